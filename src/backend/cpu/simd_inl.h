// Vector helpers that the SIMD files share; included once per instruction set (see simd_targets.h), hence no #pragma once.
#if defined(MUSTER_BACKEND_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MUSTER_BACKEND_CPU_SIMD_INL_H_
#undef MUSTER_BACKEND_CPU_SIMD_INL_H_
#else
#define MUSTER_BACKEND_CPU_SIMD_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

// The first "count" lanes of a vector; the others are 0. Reads nothing behind them.
HWY_INLINE VF32 LoadPart(F32 d, const float* from, size_t count) {
#if HWY_TARGET == HWY_SCALAR
  if (count == 0) return hn::Zero(d);  // a masked load reads its one lane in any case here
#endif
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::LoadU(d, from);
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
}

// Writes the first "count" lanes, at most all of them, and nothing behind them.
HWY_INLINE void StorePart(VF32 v, F32 d, float* to, size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) {
    hn::StoreU(v, d, to);
  } else {
    hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  }
}

// max(v, 0) that keeps NaN, so that a check for NaN further on can see it.
HWY_INLINE VF32 KeepPositive(F32 d, VF32 v) {
  return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Zero(d), v);
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#endif
