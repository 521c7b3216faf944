#pragma once

#include <cstdint>

namespace muster {

// Whether results of the forward pass may be dropped and computed again in the backward pass (docs/memory.md). Losses
// and weights are the same to the bit.
enum class Recompute : uint8_t {
  kNone,
  kFit,   // as little as needed for a plan to fit each device's memory limit
  kMost,  // as far as it goes: to learn what it could gain
};

}  // namespace muster
