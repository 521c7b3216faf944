#pragma once

#include <cstdint>

#include "base/philox.h"

// RandomStream's float streams (base/random_stream.h has the mapping), bit by bit the same, a vector at a time.
namespace muster::cpu {

// Elements that one call makes; calls begin at multiples of it.
inline constexpr int64_t kRandomUnit = 64;

// Writes elements [first, first + kRandomUnit) of a step.
using RandomFn = void (*)(const Philox& philox, int64_t step, int64_t first, float* out);

struct RandomSimd {
  RandomFn uniform, normal, truncated_normal;
};

// For this CPU.
const RandomSimd& GetRandomSimd();

}  // namespace muster::cpu
