// Vector helpers that the SIMD files share; included once per instruction set (see simd_targets.h), hence no #pragma
// once.
#if defined(MUSTER_BACKEND_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MUSTER_BACKEND_CPU_SIMD_INL_H_
#undef MUSTER_BACKEND_CPU_SIMD_INL_H_
#else
#define MUSTER_BACKEND_CPU_SIMD_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "muster/dtype.h"

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

// Whole vectors.
HWY_INLINE VF32 LoadAll(F32 d, const float* from) { return hn::LoadU(d, from); }
HWY_INLINE void StoreAll(VF32 v, F32 d, float* to) { hn::StoreU(v, d, to); }

// The same for bfloat16 in memory: computed with as float32, stored rounded to nearest even. A half is the upper 16
// bits of a float.
using DHalf = hn::Rebind<uint16_t, F32>;

HWY_INLINE VF32 Widened(F32 d, hn::Vec<DHalf> half) {
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<F32>(), half)));
}

HWY_INLINE hn::Vec<DHalf> Narrowed(F32 d, VF32 v) {
  const hn::RebindToUnsigned<F32> du;
  const hn::RebindToSigned<F32> di;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000));  // adding could turn a NaN into something else
  const auto kept = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
  return hn::DemoteTo(DHalf(), hn::BitCast(di, hn::ShiftRight<16>(kept)));
}

HWY_INLINE VF32 LoadAll(F32 d, const BFloat16* from) {
  return Widened(d, hn::LoadU(DHalf(), reinterpret_cast<const uint16_t*>(from)));
}
HWY_INLINE void StoreAll(VF32 v, F32 d, BFloat16* to) {
  hn::StoreU(Narrowed(d, v), DHalf(), reinterpret_cast<uint16_t*>(to));
}

HWY_INLINE VF32 LoadPart(F32 d, const BFloat16* from, size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return LoadAll(d, from);
  BFloat16 lanes[hn::MaxLanes(DHalf())] = {};
  std::memcpy(lanes, from, count * sizeof(BFloat16));
  return LoadAll(d, lanes);
}

HWY_INLINE void StorePart(VF32 v, F32 d, BFloat16* to, size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return StoreAll(v, d, to);
  BFloat16 lanes[hn::MaxLanes(DHalf())];
  StoreAll(v, d, lanes);
  std::memcpy(to, lanes, count * sizeof(BFloat16));
}

HWY_INLINE VF32 Splat(F32 d, float value) { return hn::Set(d, value); }
HWY_INLINE VF32 Splat(F32 d, BFloat16 value) { return hn::Set(d, ToFloat(value)); }

// How many vectors of floats make a vector's bytes in memory: what one store should write.
template <typename T>
inline constexpr int kVectorsPerStore = sizeof(float) / sizeof(T);

// Writes the first "count" lanes of kVectorsPerStore vectors, past the caches if kStream: then all lanes, to an address
// that is a multiple of a vector's size.
template <bool kStream>
HWY_INLINE void StoreVectors(const VF32* v, F32 d, float* to, size_t count) {
  if (kStream) hn::Stream(v[0], d, to);
  else StorePart(v[0], d, to, count);
}

template <bool kStream>
HWY_INLINE void StoreVectors(const VF32* v, F32 d, BFloat16* to, size_t count) {
  const size_t lanes = hn::Lanes(d);
#if HWY_TARGET != HWY_SCALAR
  const hn::Twice<DHalf> both;
  if (HWY_LIKELY(count >= 2 * lanes)) {
    const auto line = hn::Combine(both, Narrowed(d, v[1]), Narrowed(d, v[0]));
    uint16_t* bits = reinterpret_cast<uint16_t*>(to);
    return kStream ? hn::Stream(line, both, bits) : hn::StoreU(line, both, bits);
  }
#endif
  StorePart(v[0], d, to, count);
  if (count > lanes) StorePart(v[1], d, to + lanes, count - lanes);
}

// max(v, 0) that keeps NaN, so that a check for NaN further on can see it.
HWY_INLINE VF32 KeepPositive(F32 d, VF32 v) { return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Zero(d), v); }

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#endif
