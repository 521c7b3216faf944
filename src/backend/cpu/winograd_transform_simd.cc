#include "backend/cpu/winograd_transform_simd.h"

#include <algorithm>

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/winograd_transform_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

// One-dimensional transforms, each along one axis of a small square held in vectors: "from" and "to" lie "stride"
// vectors apart.
HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int kPoints = static_cast<int>(kWinogradPoints);

// The points are 0, +-p, +-q and infinity.
constexpr float kP = 0.625f, kQ = 1.5f, kPP = kP * kP, kQQ = kQ * kQ;
// Products of the differences between a point and the others.
constexpr float kAt0 = kPP * kQQ, kAtP = 2 * kPP * (kPP - kQQ), kAtQ = 2 * kQQ * (kQQ - kPP);

HWY_INLINE VF32 Times(F32 d, float factor, VF32 v) { return hn::Mul(hn::Set(d, factor), v); }
HWY_INLINE VF32 Plus(F32 d, float factor, VF32 v, VF32 sum) { return hn::MulAdd(hn::Set(d, factor), v, sum); }

HWY_INLINE int64_t Padded(int64_t channels) { return (channels + kGemmPadding - 1) / kGemmPadding * kGemmPadding; }
HWY_INLINE size_t LanesLeft(int64_t channels, int64_t c) {
  return static_cast<size_t>(std::max<int64_t>(channels - c, 0));
}

// Values of the polynomial's remainders: 6 inputs, 6 points.
HWY_INLINE void InputAxis(F32 d, const VF32* from, int from_stride, VF32* to, int to_stride) {
  const VF32 x0 = from[0], x1 = from[from_stride], x2 = from[2 * from_stride], x3 = from[3 * from_stride],
             x4 = from[4 * from_stride], x5 = from[5 * from_stride];
  const VF32 even_p = Plus(d, -kQQ, x2, x4), odd_p = Plus(d, -kQQ, x1, x3);
  const VF32 even_q = Plus(d, -kPP, x2, x4), odd_q = Plus(d, -kPP, x1, x3);
  to[0] = Plus(d, kAt0, x0, Plus(d, -(kPP + kQQ), x2, x4));
  to[to_stride] = Plus(d, kP, odd_p, even_p);
  to[2 * to_stride] = Plus(d, -kP, odd_p, even_p);
  to[3 * to_stride] = Plus(d, kQ, odd_q, even_q);
  to[4 * to_stride] = Plus(d, -kQ, odd_q, even_q);
  to[5 * to_stride] = Plus(d, kAt0, x1, Plus(d, -(kPP + kQQ), x3, x5));
}

// point^exponent
constexpr float Power(float point, int exponent) { return exponent == 0 ? 1 : point * Power(point, exponent - 1); }

// The sum of the even (kFirst 0) or odd (1) terms of a polynomial of kTaps coefficients at a point, times "scale".
template <int kTaps, int kFirst>
HWY_INLINE VF32 Terms(F32 d, const VF32* from, int stride, float point, float scale) {
  VF32 sum = Times(d, scale * Power(point, kFirst), from[kFirst * stride]);
#pragma GCC unroll 4
  for (int k = kFirst + 2; k < kTaps; k += 2) sum = Plus(d, scale * Power(point, k), from[k * stride], sum);
  return sum;
}

// The values of a polynomial of kTaps coefficients at the points, divided by the products of differences.
template <int kTaps>
HWY_INLINE void FilterAxis(F32 d, const VF32* from, int from_stride, VF32* to, int to_stride) {
  const VF32 even_p = Terms<kTaps, 0>(d, from, from_stride, kP, 1 / kAtP),
             odd_p = Terms<kTaps, 1>(d, from, from_stride, kP, 1 / kAtP);
  const VF32 even_q = Terms<kTaps, 0>(d, from, from_stride, kQ, 1 / kAtQ),
             odd_q = Terms<kTaps, 1>(d, from, from_stride, kQ, 1 / kAtQ);
  to[0] = Times(d, 1 / kAt0, from[0]);
  to[to_stride] = hn::Add(even_p, odd_p);
  to[2 * to_stride] = hn::Sub(even_p, odd_p);
  to[3 * to_stride] = hn::Add(even_q, odd_q);
  to[4 * to_stride] = hn::Sub(even_q, odd_q);
  to[5 * to_stride] = from[(kTaps - 1) * from_stride];
}

// From the values at the points back to kOutputs sums.
template <int kOutputs>
HWY_INLINE void OutputAxis(F32 d, const VF32* from, int from_stride, VF32* to, int to_stride) {
  const VF32 m0 = from[0], m1 = from[from_stride], m2 = from[2 * from_stride], m3 = from[3 * from_stride],
             m4 = from[4 * from_stride], m5 = from[5 * from_stride];
  const VF32 even_p = hn::Add(m1, m2), odd_p = hn::Sub(m1, m2), even_q = hn::Add(m3, m4), odd_q = hn::Sub(m3, m4);
  to[0] = hn::Add(m0, hn::Add(even_p, even_q));
#pragma GCC unroll 4
  for (int k = 1; k < kOutputs; ++k) {
    const float at_p = Power(kP, k), at_q = Power(kQ, k);
    const VF32 p = k % 2 == 0 ? even_p : odd_p, q = k % 2 == 0 ? even_q : odd_q;
    to[k * to_stride] = Plus(d, at_q, q, k == kOutputs - 1 ? Plus(d, at_p, p, m5) : Times(d, at_p, p));
  }
}

// kSize x kSize values of a patch, transformed along both axes into one row of the planes.
template <int kSize, bool kInside>
HWY_INLINE void TransformPatch(const WinogradPatch& p, const WinogradRows& rows) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), row_stride = p.width * p.channels;
  const float* corner = p.image + (p.top * p.width + p.left) * p.channels;
  const auto is_inside = [&](int i, int j) {
    return p.top + i >= 0 && p.top + i < p.height && p.left + j >= 0 && p.left + j < p.width;
  };
  for (int64_t c = 0; c < Padded(p.channels); c += lanes) {
    const size_t part = LanesLeft(p.channels, c);
    VF32 half[kPoints * kSize];
#pragma GCC unroll 6
    for (int j = 0; j < kSize; ++j) {
      VF32 column[kSize];
#pragma GCC unroll 6
      for (int i = 0; i < kSize; ++i)
        column[i] =
            kInside || is_inside(i, j) ? LoadPart(d, corner + i * row_stride + j * p.channels + c, part) : hn::Zero(d);
      if constexpr (kSize == kPoints) InputAxis(d, column, 1, half + j, kSize);
      else FilterAxis<kSize>(d, column, 1, half + j, kSize);
    }
    float* to = rows.data + c;
#pragma GCC unroll 6
    for (int i = 0; i < kPoints; ++i) {
      VF32 row[kPoints];
      if constexpr (kSize == kPoints) InputAxis(d, half + i * kSize, 1, row, 1);
      else FilterAxis<kSize>(d, half + i * kSize, 1, row, 1);
#pragma GCC unroll 6
      for (int j = 0; j < kPoints; ++j) hn::StoreU(row[j], d, to + (i * kPoints + j) * rows.plane_stride);
    }
  }
}

template <int kSize>
void Patch(const WinogradPatch& p, const WinogradRows& rows) {
  const bool inside = p.top >= 0 && p.left >= 0 && p.top + kSize <= p.height && p.left + kSize <= p.width;
  inside ? TransformPatch<kSize, true>(p, rows) : TransformPatch<kSize, false>(p, rows);
}

// One row of the planes at channel c, transformed back along both axes.
template <int kOutputs>
HWY_INLINE void TransformBack(F32 d, const float* from, int64_t plane_stride, VF32* outputs) {
  VF32 half[kOutputs * kPoints];
#pragma GCC unroll 6
  for (int j = 0; j < kPoints; ++j) {
    VF32 column[kPoints];
#pragma GCC unroll 6
    for (int i = 0; i < kPoints; ++i) column[i] = hn::LoadU(d, from + (i * kPoints + j) * plane_stride);
    OutputAxis<kOutputs>(d, column, 1, half + j, kPoints);
  }
#pragma GCC unroll 6
  for (int i = 0; i < kOutputs; ++i) OutputAxis<kOutputs>(d, half + i * kPoints, 1, outputs + i * kOutputs, 1);
}

template <int kSize, bool kInside>
HWY_INLINE void StoreTile(const WinogradRows& rows, const WinogradOutput& o) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  float* corner = o.image + (o.top * o.width + o.left) * o.channels;
  for (int64_t c = 0; c < o.channels; c += lanes) {
    const size_t part = static_cast<size_t>(o.channels - c);
    VF32 tile[kSize * kSize];
    TransformBack<kSize>(d, rows.data + c, rows.plane_stride, tile);
    const VF32 bias = o.bias == nullptr ? hn::Zero(d) : LoadPart(d, o.bias + c, part);
#pragma GCC unroll 4
    for (int i = 0; i < kSize; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kSize; ++j) {
        if (!kInside && (o.top + i >= o.height || o.left + j >= o.width)) continue;
        VF32 v = hn::Add(tile[i * kSize + j], bias);
        if (o.relu) v = KeepPositive(d, v);
        StorePart(v, d, corner + (i * o.width + j) * o.channels + c, part);
      }
  }
}

template <int kSize>
void Output(const WinogradRows& rows, const WinogradOutput& o) {
  const bool inside = o.top + kSize <= o.height && o.left + kSize <= o.width;
  inside ? StoreTile<kSize, true>(rows, o) : StoreTile<kSize, false>(rows, o);
}

template <int kTaps>
void Filter(const float* taps, int64_t tap_stride, int64_t columns, const WinogradRows& rows) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < columns; c += lanes) {
    const size_t part = static_cast<size_t>(columns - c);
    VF32 half[kPoints * kTaps];
#pragma GCC unroll 5
    for (int s = 0; s < kTaps; ++s) {
      VF32 column[kTaps];
#pragma GCC unroll 5
      for (int r = 0; r < kTaps; ++r) column[r] = LoadPart(d, taps + (r * kTaps + s) * tap_stride + c, part);
      FilterAxis<kTaps>(d, column, 1, half + s, kTaps);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kPoints; ++i) {
      VF32 row[kPoints];
      FilterAxis<kTaps>(d, half + i * kTaps, 1, row, 1);
#pragma GCC unroll 6
      for (int j = 0; j < kPoints; ++j) hn::StoreU(row[j], d, rows.data + (i * kPoints + j) * rows.plane_stride + c);
    }
  }
}

template <int kTaps>
void FilterGradient(const WinogradRows& rows, float* taps, int64_t tap_stride, int64_t columns) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < columns; c += lanes) {
    VF32 filter[kTaps * kTaps];
    TransformBack<kTaps>(d, rows.data + c, rows.plane_stride, filter);
#pragma GCC unroll 25
    for (int i = 0; i < kTaps * kTaps; ++i)
      StorePart(filter[i], d, taps + i * tap_stride + c, static_cast<size_t>(columns - c));
  }
}

void AddTo(const float* part, int64_t n, float* sum) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const size_t left = static_cast<size_t>(n - i);
    StorePart(hn::Add(LoadPart(d, sum + i, left), LoadPart(d, part + i, left)), d, sum + i, left);
  }
}

template <int kKernel>
const WinogradTransformSimd* TableFor() {
  constexpr int kTile = static_cast<int>(WinogradTile(kKernel));
  static constexpr WinogradTransformSimd table = {Patch<kPoints>,          Patch<kTile>, Output<kTile>, Filter<kKernel>,
                                                  FilterGradient<kKernel>, AddTo};
  return &table;
}

}  // namespace

const WinogradTransformSimd* WinogradTransformTable(int64_t kernel) {
  return kernel == 3 ? TableFor<3>() : TableFor<5>();
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(WinogradTransformTable);
const WinogradTransformSimd& GetWinogradTransformSimd(int64_t kernel) {
  return *HWY_DYNAMIC_DISPATCH(WinogradTransformTable)(kernel);
}
}  // namespace muster::cpu
#endif
