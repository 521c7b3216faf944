#pragma once

#include <cstdint>

// Half-precision numbers to float32 and back, to nearest even: what a thread does of it.
namespace muster::cpu {

struct HalfSimd {
  void (*widen_float16)(const uint16_t* half, float* single, int64_t n);
  void (*narrow_float16)(const float* single, uint16_t* half, int64_t n);
  void (*widen_bfloat16)(const uint16_t* half, float* single, int64_t n);
  void (*narrow_bfloat16)(const float* single, uint16_t* half, int64_t n);
};

// For this CPU.
const HalfSimd& GetHalfSimd();

}  // namespace muster::cpu
