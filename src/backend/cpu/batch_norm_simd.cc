#include "backend/cpu/batch_norm_simd.h"

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/batch_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kRowsAtOnce = 8;

// The loops below go through several rows at once, so that a vector of per-channel values is loaded once for all of
// them; a lane count that does not divide the channels makes the last vector of each row a masked one.
template <int kRows, typename T>
HWY_INLINE void MomentsOfRows(F32 d, const T* x, int64_t stride, int64_t channels, const float* shift, float* sum,
                              float* square) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const size_t part = static_cast<size_t>(channels - c);
    const VF32 s = hn::LoadU(d, shift + c);
    VF32 total = hn::Zero(d), squares = hn::Zero(d), total2 = hn::Zero(d), squares2 = hn::Zero(d);
    for (int r = 0; r + 1 < kRows; r += 2) {
      const VF32 v0 = hn::Sub(LoadPart(d, x + r * stride + c, part), s);
      const VF32 v1 = hn::Sub(LoadPart(d, x + (r + 1) * stride + c, part), s);
      total = hn::Add(total, v0);
      total2 = hn::Add(total2, v1);
      squares = hn::MulAdd(v0, v0, squares);
      squares2 = hn::MulAdd(v1, v1, squares2);
    }
    if (kRows % 2 == 1) {
      const VF32 v = hn::Sub(LoadPart(d, x + (kRows - 1) * stride + c, part), s);
      total = hn::Add(total, v);
      squares = hn::MulAdd(v, v, squares);
    }
    hn::StoreU(hn::Add(hn::LoadU(d, sum + c), hn::Add(total, total2)), d, sum + c);
    hn::StoreU(hn::Add(hn::LoadU(d, square + c), hn::Add(squares, squares2)), d, square + c);
  }
}

template <typename T>
void Moments(const BatchNormTile& t, const T* x, const float* shift, float* sum, float* square) {
  const F32 d;
  int64_t r = 0;
  for (; r + kRowsAtOnce <= t.rows; r += kRowsAtOnce)
    MomentsOfRows<kRowsAtOnce>(d, x + r * t.stride, t.stride, t.channels, shift, sum, square);
  for (; r < t.rows; ++r) MomentsOfRows<1>(d, x + r * t.stride, t.stride, t.channels, shift, sum, square);
}

// Lanes that are left behind vector k of those that one store writes.
HWY_INLINE size_t Left(int64_t channels, int64_t c, int k) {
  const int64_t left = channels - c - k * static_cast<int64_t>(hn::Lanes(F32()));
  return left > 0 ? static_cast<size_t>(left) : 0;
}

template <bool kSide, bool kRelu, bool kStream, int kRows, typename T>
HWY_INLINE void NormaliseRows(F32 d, const BatchNormForwardArgs<T>& a, int64_t row, const BatchNormTile& t) {
  constexpr int kVectors = kVectorsPerStore<T>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < t.channels; c += kVectors * lanes) {
    VF32 mean[kVectors], factor[kVectors], offset[kVectors];
    for (int k = 0; k < kVectors; ++k) {
      const int64_t at = c + k * lanes;
      mean[k] = hn::LoadU(d, a.mean + at), factor[k] = hn::LoadU(d, a.factor + at),
      offset[k] = hn::LoadU(d, a.offset + at);
    }
    for (int r = 0; r < kRows; ++r) {
      const int64_t at = (row + r) * t.stride + c;
      VF32 y[kVectors];
      for (int k = 0; k < kVectors; ++k) {
        const size_t part = Left(t.channels, c, k);
        y[k] = hn::MulAdd(hn::Sub(LoadPart(d, a.x + at + k * lanes, part), mean[k]), factor[k], offset[k]);
        if (kSide) y[k] = hn::Add(y[k], LoadPart(d, a.side + at + k * lanes, part));
        if (kRelu) y[k] = KeepPositive(d, y[k]);
      }
      StoreVectors<kStream>(y, d, a.y + at, Left(t.channels, c, 0));
    }
  }
}

// The loops take copies of their arguments: what they write could otherwise be taken for a change of them.
template <bool kSide, bool kRelu, bool kStream, typename T>
void NormaliseAs(const BatchNormTile tile, const BatchNormForwardArgs<T> args) {
  constexpr int kRows = 4;
  const F32 d;
  int64_t r = 0;
  for (; r + kRows <= tile.rows; r += kRows) NormaliseRows<kSide, kRelu, kStream, kRows>(d, args, r, tile);
  for (; r < tile.rows; ++r) NormaliseRows<kSide, kRelu, kStream, 1>(d, args, r, tile);
  if (kStream) hwy::FlushStream();
}

template <bool kSide, bool kRelu, typename T>
void NormaliseStreamed(const BatchNormTile& t, const BatchNormForwardArgs<T>& a) {
  a.stream ? NormaliseAs<kSide, kRelu, true>(t, a) : NormaliseAs<kSide, kRelu, false>(t, a);
}

template <typename T>
void Normalise(const BatchNormTile& t, const BatchNormForwardArgs<T>& a) {
  if (a.side != nullptr) {
    a.relu ? NormaliseStreamed<true, true>(t, a) : NormaliseStreamed<true, false>(t, a);
  } else {
    a.relu ? NormaliseStreamed<false, true>(t, a) : NormaliseStreamed<false, false>(t, a);
  }
}

// Values of one vector of channels.
struct Channels {
  VF32 mean, factor, offset;
};

template <typename T>
HWY_INLINE Channels LoadChannels(F32 d, const BatchNormBackwardArgs<T>& a, int64_t c) {
  return {hn::LoadU(d, a.mean + c), hn::LoadU(d, a.factor + c), hn::LoadU(d, a.offset + c)};
}

// dy where the forward pass let its value through. "centred" is x - mean; the recomputed output is bit-equal to the
// forward pass' own, since it takes the same operations.
template <ReluMask kMask, bool kTwo, typename T>
HWY_INLINE VF32 MaskedGradient(F32 d, const BatchNormBackwardArgs<T>& a, const Channels& ch, VF32 centred, int64_t at,
                               size_t part) {
  VF32 dy = LoadPart(d, a.dy + at, part);
  if (kTwo) dy = hn::Add(dy, LoadPart(d, a.dy2 + at, part));
  if (kMask == ReluMask::kNone) return dy;
  const VF32 y =
      kMask == ReluMask::kFromOutput ? LoadPart(d, a.y + at, part) : hn::MulAdd(centred, ch.factor, ch.offset);
  return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy);
}

template <ReluMask kMask, bool kTwo, bool kWrite, int kRows, typename T>
HWY_INLINE void GradientSumsOfRows(F32 d, const BatchNormBackwardArgs<T>& a, int64_t row, const BatchNormTile& t,
                                   float* sum, float* product) {
  constexpr int kVectors = kVectorsPerStore<T>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < t.channels; c += kVectors * lanes) {
    Channels ch[kVectors];
    VF32 total[kVectors], products[kVectors];
    for (int k = 0; k < kVectors; ++k) {
      ch[k] = LoadChannels(d, a, c + k * lanes);
      total[k] = products[k] = hn::Zero(d);
    }
    for (int r = 0; r < kRows; ++r) {
      const int64_t at = (row + r) * t.stride + c;
      VF32 g[kVectors];
      for (int k = 0; k < kVectors; ++k) {
        const size_t part = Left(t.channels, c, k);
        // Masked lanes read x as 0 but dy as 0 too, so they add nothing.
        const VF32 centred = hn::Sub(LoadPart(d, a.x + at + k * lanes, part), ch[k].mean);
        g[k] = MaskedGradient<kMask, kTwo>(d, a, ch[k], centred, at + k * lanes, part);
        total[k] = hn::Add(total[k], g[k]);
        products[k] = hn::MulAdd(g[k], centred, products[k]);
      }
      if (kWrite) StoreVectors<false>(g, d, a.masked_dy + at, Left(t.channels, c, 0));
    }
    for (int k = 0; k < kVectors; ++k) {
      float *s = sum + c + k * lanes, *p = product + c + k * lanes;
      hn::StoreU(hn::Add(hn::LoadU(d, s), total[k]), d, s);
      hn::StoreU(hn::Add(hn::LoadU(d, p), products[k]), d, p);
    }
  }
}

template <ReluMask kMask, bool kTwo, bool kWrite, typename T>
void GradientSumsAs(const BatchNormTile tile, const BatchNormBackwardArgs<T> args, float* sum, float* product) {
  constexpr int kRows = 4;
  const F32 d;
  int64_t r = 0;
  for (; r + kRows <= tile.rows; r += kRows)
    GradientSumsOfRows<kMask, kTwo, kWrite, kRows>(d, args, r, tile, sum, product);
  for (; r < tile.rows; ++r) GradientSumsOfRows<kMask, kTwo, kWrite, 1>(d, args, r, tile, sum, product);
}

template <ReluMask kMask, typename T>
void GradientSumsMasked(const BatchNormTile& t, const BatchNormBackwardArgs<T>& a, float* sum, float* product) {
  if (a.dy2 != nullptr) {
    a.masked_dy != nullptr ? GradientSumsAs<kMask, true, true>(t, a, sum, product)
                           : GradientSumsAs<kMask, true, false>(t, a, sum, product);
  } else {
    a.masked_dy != nullptr ? GradientSumsAs<kMask, false, true>(t, a, sum, product)
                           : GradientSumsAs<kMask, false, false>(t, a, sum, product);
  }
}

template <typename T>
void GradientSums(const BatchNormTile& t, const BatchNormBackwardArgs<T>& a, float* sum, float* product) {
  switch (a.mask) {
    case ReluMask::kNone: return GradientSumsMasked<ReluMask::kNone>(t, a, sum, product);
    case ReluMask::kFromOutput: return GradientSumsMasked<ReluMask::kFromOutput>(t, a, sum, product);
    case ReluMask::kRecomputed: return GradientSumsMasked<ReluMask::kRecomputed>(t, a, sum, product);
  }
}

template <ReluMask kMask, bool kTwo, bool kStream, int kRows, typename T>
HWY_INLINE void GradientInputOfRows(F32 d, const BatchNormBackwardArgs<T>& a, int64_t row, const BatchNormTile& t) {
  constexpr int kVectors = kVectorsPerStore<T>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < t.channels; c += kVectors * lanes) {
    Channels ch[kVectors];
    VF32 slope[kVectors], bias[kVectors];
    for (int k = 0; k < kVectors; ++k) {
      const int64_t at = c + k * lanes;
      ch[k] = LoadChannels(d, a, at);
      slope[k] = hn::LoadU(d, a.slope + at), bias[k] = hn::LoadU(d, a.bias + at);
    }
    for (int r = 0; r < kRows; ++r) {
      const int64_t at = (row + r) * t.stride + c;
      VF32 dx[kVectors];
      for (int k = 0; k < kVectors; ++k) {
        const size_t part = Left(t.channels, c, k);
        const VF32 centred = hn::Sub(LoadPart(d, a.x + at + k * lanes, part), ch[k].mean);
        const VF32 g = MaskedGradient<kMask, kTwo>(d, a, ch[k], centred, at + k * lanes, part);
        dx[k] = hn::MulSub(g, ch[k].factor, hn::MulAdd(centred, slope[k], bias[k]));
      }
      StoreVectors<kStream>(dx, d, a.dx + at, Left(t.channels, c, 0));
    }
  }
}

template <ReluMask kMask, bool kTwo, bool kStream, typename T>
void GradientInputAs(const BatchNormTile tile, const BatchNormBackwardArgs<T> args) {
  constexpr int kRows = 4;
  const F32 d;
  int64_t r = 0;
  for (; r + kRows <= tile.rows; r += kRows) GradientInputOfRows<kMask, kTwo, kStream, kRows>(d, args, r, tile);
  for (; r < tile.rows; ++r) GradientInputOfRows<kMask, kTwo, kStream, 1>(d, args, r, tile);
  if (kStream) hwy::FlushStream();
}

template <ReluMask kMask, typename T>
void GradientInputMasked(const BatchNormTile& t, const BatchNormBackwardArgs<T>& a) {
  if (a.dy2 != nullptr) {
    a.stream ? GradientInputAs<kMask, true, true>(t, a) : GradientInputAs<kMask, true, false>(t, a);
  } else {
    a.stream ? GradientInputAs<kMask, false, true>(t, a) : GradientInputAs<kMask, false, false>(t, a);
  }
}

template <typename T>
void GradientInput(const BatchNormTile& t, const BatchNormBackwardArgs<T>& a) {
  switch (a.mask) {
    case ReluMask::kNone: return GradientInputMasked<ReluMask::kNone>(t, a);
    case ReluMask::kFromOutput: return GradientInputMasked<ReluMask::kFromOutput>(t, a);
    case ReluMask::kRecomputed: return GradientInputMasked<ReluMask::kRecomputed>(t, a);
  }
}

}  // namespace

template <typename T>
const BatchNormSimd<T>* TableOf() {
  static constexpr BatchNormSimd<T> table = {Moments<T>, Normalise<T>, GradientSums<T>, GradientInput<T>};
  return &table;
}

const BatchNormSimd<float>* BatchNormTable() { return TableOf<float>(); }
const BatchNormSimd<BFloat16>* BatchNormHalfTable() { return TableOf<BFloat16>(); }

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(BatchNormTable);
HWY_EXPORT(BatchNormHalfTable);
template <>
const BatchNormSimd<float>& GetBatchNormSimd() {
  return *HWY_DYNAMIC_DISPATCH(BatchNormTable)();
}
template <>
const BatchNormSimd<BFloat16>& GetBatchNormSimd() {
  return *HWY_DYNAMIC_DISPATCH(BatchNormHalfTable)();
}
}  // namespace muster::cpu
#endif
