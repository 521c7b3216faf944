#include "backend/cpu/winograd_transform_simd.h"

#include <algorithm>

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/winograd_transform_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

// One-dimensional transforms, each along one axis of a small square held in vectors: "from" and "to" lie "stride" vectors apart.
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
HWY_INLINE size_t LanesLeft(int64_t channels, int64_t c) { return static_cast<size_t>(std::max<int64_t>(channels - c, 0)); }

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

// The values of a polynomial of kTaps coefficients at the points, divided by the products of differences.
template <int kTaps>
HWY_INLINE void FilterAxis(F32 d, const VF32* from, int from_stride, VF32* to, int to_stride) {
  const VF32 g0 = from[0], g1 = from[from_stride], g2 = from[2 * from_stride], last = from[(kTaps - 1) * from_stride];
  VF32 odd_p = Times(d, kP / kAtP, g1), odd_q = Times(d, kQ / kAtQ, g1);
  if (kTaps == 4) odd_p = Plus(d, kP * kPP / kAtP, last, odd_p), odd_q = Plus(d, kQ * kQQ / kAtQ, last, odd_q);
  const VF32 even_p = Plus(d, kPP / kAtP, g2, Times(d, 1 / kAtP, g0)), even_q = Plus(d, kQQ / kAtQ, g2, Times(d, 1 / kAtQ, g0));
  to[0] = Times(d, 1 / kAt0, g0);
  to[to_stride] = hn::Add(even_p, odd_p);
  to[2 * to_stride] = hn::Sub(even_p, odd_p);
  to[3 * to_stride] = hn::Add(even_q, odd_q);
  to[4 * to_stride] = hn::Sub(even_q, odd_q);
  to[5 * to_stride] = last;
}

// From the values at the points back to kOutputs sums.
template <int kOutputs>
HWY_INLINE void OutputAxis(F32 d, const VF32* from, int from_stride, VF32* to, int to_stride) {
  const VF32 m0 = from[0], m1 = from[from_stride], m2 = from[2 * from_stride], m3 = from[3 * from_stride],
             m4 = from[4 * from_stride], m5 = from[5 * from_stride];
  const VF32 even_p = hn::Add(m1, m2), odd_p = hn::Sub(m1, m2), even_q = hn::Add(m3, m4), odd_q = hn::Sub(m3, m4);
  to[0] = hn::Add(m0, hn::Add(even_p, even_q));
  to[to_stride] = Plus(d, kQ, odd_q, Times(d, kP, odd_p));
  if (kOutputs == 4) {
    to[2 * to_stride] = Plus(d, kQQ, even_q, Times(d, kPP, even_p));
    to[3 * to_stride] = Plus(d, kQ * kQQ, odd_q, Plus(d, kP * kPP, odd_p, m5));
  } else {
    to[2 * to_stride] = Plus(d, kQQ, even_q, Plus(d, kPP, even_p, m5));
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
        column[i] = kInside || is_inside(i, j) ? LoadPart(d, corner + i * row_stride + j * p.channels + c, part) : hn::Zero(d);
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

template <bool kInside>
HWY_INLINE void StoreTile(const WinogradRows& rows, const WinogradOutput& o) {
  constexpr int kSize = static_cast<int>(kWinogradTile);
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

void Output(const WinogradRows& rows, const WinogradOutput& o) {
  const bool inside = o.top + kWinogradTile <= o.height && o.left + kWinogradTile <= o.width;
  inside ? StoreTile<true>(rows, o) : StoreTile<false>(rows, o);
}

void Filter(const float* taps, int64_t tap_stride, int64_t columns, const WinogradRows& rows) {
  constexpr int kTaps = 3;
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < columns; c += lanes) {
    const size_t part = static_cast<size_t>(columns - c);
    VF32 half[kPoints * kTaps];
#pragma GCC unroll 3
    for (int s = 0; s < kTaps; ++s) {
      VF32 column[kTaps];
#pragma GCC unroll 3
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

void FilterGradient(const WinogradRows& rows, float* taps, int64_t tap_stride, int64_t columns) {
  constexpr int kTaps = 3;
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < columns; c += lanes) {
    VF32 filter[kTaps * kTaps];
    TransformBack<kTaps>(d, rows.data + c, rows.plane_stride, filter);
#pragma GCC unroll 9
    for (int i = 0; i < kTaps * kTaps; ++i) StorePart(filter[i], d, taps + i * tap_stride + c, static_cast<size_t>(columns - c));
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

}  // namespace

const WinogradTransformSimd* WinogradTransformTable() {
  static constexpr WinogradTransformSimd table = {Patch<kPoints>, Patch<static_cast<int>(kWinogradTile)>, Output, Filter, FilterGradient, AddTo};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(WinogradTransformTable);
const WinogradTransformSimd& GetWinogradTransformSimd() { return *HWY_DYNAMIC_DISPATCH(WinogradTransformTable)(); }
}  // namespace muster::cpu
#endif
