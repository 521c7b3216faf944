// Transcendental functions over Highway's, made total: NaN gives NaN, and infinities and overflows what C's functions
// give. Included once per instruction set (see simd_targets.h), hence no #pragma once.
#if defined(MUSTER_BACKEND_CPU_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MUSTER_BACKEND_CPU_SIMD_MATH_INL_H_
#undef MUSTER_BACKEND_CPU_SIMD_MATH_INL_H_
#else
#define MUSTER_BACKEND_CPU_SIMD_MATH_INL_H_
#endif

#include <limits>

#include "backend/cpu/simd_inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {

// "value", but x where x is NaN.
HWY_INLINE VF32 OrNan(VF32 x, VF32 value) { return hn::IfThenElse(hn::Eq(x, x), value, x); }

HWY_INLINE VF32 ExpOf(F32 d, VF32 x) {
  // Highway's is right up to where it overflows, and only there.
  return OrNan(x, hn::Exp(d, hn::Min(x, hn::Set(d, 89.0f))));
}

HWY_INLINE VF32 LogOf(F32 d, VF32 x) {
  const VF32 zero = hn::Zero(d), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  VF32 y = hn::Log(d, x);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
  return OrNan(x, y);
}

HWY_INLINE VF32 TanhOf(F32 d, VF32 x) {
  const VF32 limit = hn::Set(d, 20.0f);
  return OrNan(x, hn::Tanh(d, hn::Max(hn::Min(x, limit), hn::Neg(limit))));
}

// 1 / (1 + e^-x)
HWY_INLINE VF32 SigmoidOf(F32 d, VF32 x) {
  const VF32 one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, ExpOf(d, hn::Neg(x))));
}

// log(1 + e^x) = max(x, 0) + log1p(e^-|x|)
HWY_INLINE VF32 SoftplusOf(F32 d, VF32 x) {
  return OrNan(x, hn::Add(hn::Max(x, hn::Zero(d)), hn::Log1p(d, hn::Exp(d, hn::Neg(hn::Abs(x))))));
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#endif
