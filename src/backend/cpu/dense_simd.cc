#include "backend/cpu/dense_simd.h"

#include <algorithm>

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/dense_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

// Tiles of results that stay in registers, of which AVX-512 has 32 and the others 16.
#if HWY_TARGET <= HWY_AVX3
constexpr int kRowTile = 8, kVectors = 3;     // rows x vectors of columns
constexpr int kDotRows = 4, kDotColumns = 6;  // of the input gradient: images x columns
#else
constexpr int kRowTile = 4, kVectors = 2;
constexpr int kDotRows = 4, kDotColumns = 3;
#endif
constexpr int64_t kMaxLanes = 16;
constexpr int64_t kDepth = 16;                // strips of a panel that stay in the first-level cache for all images
constexpr int64_t kDotPanels = 21;            // panels whose rows one run of dot products keeps there
constexpr int64_t kImages = 128;              // images that are worked on at once
constexpr int64_t kAhead = 32 * kDensePanel;  // floats from a use of the weights to what is fetched for later

HWY_INLINE int64_t LanesOf(F32 d) { return static_cast<int64_t>(hn::Lanes(d)); }

// --- y = x w ---

// kRows images times kCols vectors of one panel's columns, over "depth" strips.
struct Product {
  const float* x;    // of the first image
  int64_t x_stride;  // between strips
  const float* w;
  int64_t depth;
  float* y;       // [images][kDensePanel]
  bool is_first;  // y starts at 0
};

template <int kRows, int kCols, bool kFetches>
HWY_NOINLINE void Multiply(const Product& p) {
  const F32 d;
  const int64_t lanes = LanesOf(d);
  VF32 acc[kRows][kCols];
  if (p.is_first) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kCols; ++v) acc[r][v] = hn::Zero(d);
  } else {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kCols; ++v) acc[r][v] = hn::Load(d, p.y + r * kDensePanel + v * lanes);
  }
  const float *x = p.x, *w = p.w;
  for (int64_t strip = 0; strip < p.depth; ++strip, x += p.x_stride)
    for (int k = 0; k < kDenseStrip; ++k, w += kDensePanel) {
      VF32 row[kCols];
      for (int v = 0; v < kCols; ++v) {
        row[v] = hn::Load(d, w + v * lanes);
        if (kFetches) hwy::Prefetch(w + kAhead + v * lanes);
      }
      for (int r = 0; r < kRows; ++r) {
        const VF32 value = hn::Set(d, x[r * kDenseStrip + k]);
        for (int v = 0; v < kCols; ++v) acc[r][v] = hn::MulAdd(value, row[v], acc[r][v]);
      }
    }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kCols; ++v) hn::Store(acc[r][v], d, p.y + r * kDensePanel + v * lanes);
}

template <int kCols>
void MultiplyImages(Product p, int64_t images) {
  const auto advance = [&](int64_t n) {
    p.x += n * kDenseStrip, p.y += n * kDensePanel;
    images -= n;
  };
  if (images >= kRowTile) Multiply<kRowTile, kCols, true>(p), advance(kRowTile);
  for (; images >= kRowTile; advance(kRowTile)) Multiply<kRowTile, kCols, false>(p);
  if (kRowTile > 4 && images >= 4) Multiply<4, kCols, false>(p), advance(4);
  for (; images > 0; advance(1)) Multiply<1, kCols, false>(p);
}

void MultiplyVectors(const Product& p, int64_t images, int vectors) {
  if (vectors == kVectors) return MultiplyImages<kVectors>(p, images);
  if (kVectors > 2 && vectors == 2) return MultiplyImages<2>(p, images);
  MultiplyImages<1>(p, images);
}

// "columns" columns of y from "column" on, for the images from "first" on.
void StoreColumns(const DenseShape& s, const DenseForwardArgs& a, const float* tile, int64_t first, int64_t images,
                  int64_t column, int64_t columns) {
  const F32 d;
  for (int64_t c = 0; c < columns; c += LanesOf(d)) {
    const size_t part = static_cast<size_t>(columns - c);
    const VF32 bias = a.bias == nullptr ? hn::Zero(d) : LoadPart(d, a.bias + column + c, part);
    for (int64_t m = 0; m < images; ++m) {
      VF32 value = hn::Add(hn::Load(d, tile + m * kDensePanel + c), bias);
      if (a.relu) value = KeepPositive(d, value);
      StorePart(value, d, a.y + (first + m) * s.out + column + c, part);
    }
  }
}

void Forward(const DenseShape& s, const DenseForwardArgs& a, int64_t begin, int64_t end) {
  const F32 d;
  const int64_t lanes = LanesOf(d), column_end = std::min(end * kDenseColumns, s.out);
  HWY_ALIGN float tile[kImages * kDensePanel];
  for (int64_t first = 0; first < s.batch; first += kImages) {
    const int64_t images = std::min(kImages, s.batch - first);
    int64_t columns;
    for (int64_t column = begin * kDenseColumns; column < column_end; column += columns) {
      const int64_t in_panel = column % kDensePanel;
      columns = std::min({kVectors * lanes, kDensePanel - in_panel, column_end - column});
      const float* w = a.w + column / kDensePanel * a.panel_stride + in_panel;
      for (int64_t strip = 0; strip < s.strips(); strip += kDepth) {
        const Product p{a.packed_x + (strip * s.batch + first) * kDenseStrip,
                        s.batch * kDenseStrip,
                        w + strip * kDenseStrip * kDensePanel,
                        std::min(kDepth, s.strips() - strip),
                        tile,
                        strip == 0};
        MultiplyVectors(p, images, static_cast<int>((columns + lanes - 1) / lanes));
      }
      StoreColumns(s, a, tile, first, images, column, columns);
    }
  }
}

// --- dx = dy w^T ---

// Adds the sums of the lanes of four vectors to sums[0..3].
HWY_INLINE void AddSumsOf4(F32 d, VF32 a, VF32 b, VF32 c, VF32 e, float* sums) {
#if HWY_TARGET == HWY_SCALAR
  const VF32 all[] = {a, b, c, e};
  for (int i = 0; i < 4; ++i) sums[i] += hn::GetLane(all[i]);
#else
  const hn::Repartition<double, F32> dd;
  const VF32 ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const VF32 ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto ab2 = hn::BitCast(dd, ab), ce2 = hn::BitCast(dd, ce);
  const VF32 all =
      hn::Add(hn::BitCast(d, hn::InterleaveLower(dd, ab2, ce2)), hn::BitCast(d, hn::InterleaveUpper(dd, ab2, ce2)));
  // Every block of four lanes holds one share of the four sums.
  HWY_ALIGN float blocks[kMaxLanes];
  hn::Store(all, d, blocks);
  const hn::CappedTag<float, 4> d4;
  auto total = hn::Load(d4, blocks);
  for (size_t i = 4; i < hn::Lanes(d); i += 4) total = hn::Add(total, hn::Load(d4, blocks + i));
  hn::StoreU(hn::Add(hn::LoadU(d4, sums), total), d4, sums);
#endif
}

// Dot products of kRows rows of dy with kCols rows of the weights, over "panels" panels.
struct Dots {
  const float* dy;
  int64_t dy_stride;  // between panels
  const float* w;
  int64_t w_stride;
  int64_t panels;
  float* copy;  // of these rows: written when kCopies, and else read in place of w
  float* sums;  // [kCols][kImages]
};

template <int kRows, int kCols, bool kCopies>
HWY_NOINLINE void DotTile(const Dots& p) {
  const F32 d;
  const int64_t lanes = LanesOf(d);
  VF32 acc[kCols][kRows];
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) acc[c][r] = hn::Zero(d);
  const float *dy = p.dy, *w = kCopies ? p.w : p.copy;
  float* copy = p.copy;
  for (int64_t panel = 0; panel < p.panels; ++panel) {
    for (int64_t i = 0; i < kDensePanel; i += lanes) {
      const auto weights = [&](int c) {
        const VF32 value = hn::Load(d, w + c * kDensePanel + i);
        if (kCopies) {
          hn::Store(value, d, copy + c * kDensePanel + i);
          hwy::Prefetch(w + (kCols + c) * kDensePanel + i);
        }
        return value;
      };
      // What there is less of stays in registers while the other passes by: the tile leaves no room for both.
      if constexpr (kRows <= kCols) {
        VF32 g[kRows];
        for (int r = 0; r < kRows; ++r) g[r] = hn::Load(d, dy + r * kDensePanel + i);
        for (int c = 0; c < kCols; ++c) {
          const VF32 value = weights(c);
          for (int r = 0; r < kRows; ++r) acc[c][r] = hn::MulAdd(g[r], value, acc[c][r]);
        }
      } else {
        VF32 values[kCols];
        for (int c = 0; c < kCols; ++c) values[c] = weights(c);
        for (int r = 0; r < kRows; ++r) {
          const VF32 g = hn::Load(d, dy + r * kDensePanel + i);
          for (int c = 0; c < kCols; ++c) acc[c][r] = hn::MulAdd(g, values[c], acc[c][r]);
        }
      }
    }
    dy += p.dy_stride;
    w += kCopies ? p.w_stride : kCols * kDensePanel;
    copy += kCols * kDensePanel;
  }
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) {
    float* sums = p.sums + c * kImages;
    if (kRows == 4) {
      AddSumsOf4(d, acc[c][0], acc[c][1 % kRows], acc[c][2 % kRows], acc[c][3 % kRows], sums);
    } else {
      for (int r = 0; r < kRows; ++r) sums[r] += hn::GetLane(hn::SumOfLanes(d, acc[c][r]));
    }
  }
}

template <int kCols>
void DotImages(Dots p, int64_t images) {
  if (images >= kDotRows) DotTile<kDotRows, kCols, true>(p);
  else DotTile<1, kCols, true>(p);
  for (int64_t done = images >= kDotRows ? kDotRows : 1; done < images;) {
    const int64_t n = done + kDotRows <= images ? kDotRows : 1;
    Dots next = p;
    next.dy += done * kDensePanel, next.sums += done;
    n == kDotRows ? DotTile<kDotRows, kCols, false>(next) : DotTile<1, kCols, false>(next);
    done += n;
  }
}

template <int kCols>
void DotColumns(const DenseShape& s, const DenseInputArgs& a, int64_t column) {
  HWY_ALIGN float copy[kDotPanels * kCols * kDensePanel];
  for (int64_t first = 0; first < s.batch; first += kImages) {
    const int64_t images = std::min(kImages, s.batch - first);
    HWY_ALIGN float sums[kCols * kImages] = {};
    for (int64_t panel = 0; panel < s.panels(); panel += kDotPanels)
      DotImages<kCols>({a.packed_dy + (panel * s.batch + first) * kDensePanel, s.batch * kDensePanel,
                        a.w + panel * a.panel_stride + column * kDensePanel, a.panel_stride,
                        std::min(kDotPanels, s.panels() - panel), copy, sums},
                       images);
    for (int64_t m = 0; m < images; ++m)
      for (int c = 0; c < kCols; ++c) a.dx[(first + m) * s.in + column + c] = sums[c * kImages + m];
  }
}

void InputGradient(const DenseShape& s, const DenseInputArgs& a, int64_t begin, int64_t end) {
  for (; begin + kDotColumns <= end; begin += kDotColumns) DotColumns<kDotColumns>(s, a, begin);
  for (; begin < end; ++begin) DotColumns<1>(s, a, begin);
}

// --- dw = x^T dy ---

// kRowTile rows of dw, or of the weights, by at most kVectors vectors.
template <bool kApply, bool kPlain>
HWY_NOINLINE void WeightsTile(const DenseShape& s, const DenseWeightsArgs& a, const float* x, const float* dy, float* w,
                              int64_t rows, int64_t columns) {
  const F32 d;
  const int64_t lanes = LanesOf(d);
  VF32 acc[kRowTile][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRowTile; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::Zero(d);
  const int64_t stride = kPlain ? a.places.row_stride : kDensePanel;
  for (int64_t m = 0; m < s.batch; ++m) {
    if (kApply && m < kRowTile)
      for (int v = 0; v < kVectors; ++v) hwy::Prefetch(w + (kRowTile + m) * stride + v * lanes);
    VF32 g[kVectors];
    for (int v = 0; v < kVectors; ++v) g[v] = hn::Load(d, dy + m * kDensePanel + v * lanes);
    for (int r = 0; r < kRowTile; ++r) {
      const VF32 value = hn::Set(d, x[m * kDenseStrip + r]);
      for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(value, g[v], acc[r][v]);
    }
  }
  const VF32 rate = hn::Set(d, a.rate), decay = hn::Set(d, a.decay);
#pragma GCC unroll 8
  for (int r = 0; r < kRowTile; ++r) {
    if (kPlain && r >= rows) break;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      if (kPlain && v * lanes >= columns) break;
      const size_t part = static_cast<size_t>(kPlain ? columns - v * lanes : lanes);
      float* to = w + r * stride + v * lanes;
      VF32 value = acc[r][v];
      if (kApply) {  // the same operations as in apply_simd.cc
        const VF32 old = LoadPart(d, to, part);
        value = hn::NegMulAdd(rate, hn::MulAdd(decay, old, value), old);
      }
      StorePart(value, d, to, part);
    }
  }
}

// A gradient in panels is written with its padding, which x and dy have as zeros: rows to the end of the strip, columns
// to the end of the panel. Tiles are smaller than those on some CPUs. The padding of weights is zero already.
template <bool kApply, bool kPlain>
void WeightsAs(const DenseShape& s, const DenseWeightsArgs& a, int64_t begin, int64_t end) {
  constexpr bool kPads = !kPlain && !kApply;
  const int64_t lanes = LanesOf(F32()), row_end = kPads ? end * kDenseStrip : std::min(end * kDenseStrip, s.in);
  const int64_t column_end = kPads ? s.panels() * kDensePanel : s.out;
  for (int64_t column = 0; column < column_end; column += kVectors * lanes) {
    const int64_t panel = column / kDensePanel, in_panel = column % kDensePanel;
    const float* dy = a.packed_dy + panel * s.batch * kDensePanel + in_panel;
    float* w = a.dw + panel * a.places.panel_stride + in_panel;
    for (int64_t row = begin * kDenseStrip; row < row_end; row += kRowTile) {
      const float* x = a.packed_x + row / kDenseStrip * s.batch * kDenseStrip + row % kDenseStrip;
      WeightsTile<kApply, kPlain>(s, a, x, dy, w + row * a.places.row_stride, s.in - row, s.out - column);
    }
  }
}

void Weights(const DenseShape& s, const DenseWeightsArgs& a, int64_t begin, int64_t end) {
  if (a.places.is_plain) {
    a.apply ? WeightsAs<true, true>(s, a, begin, end) : WeightsAs<false, true>(s, a, begin, end);
  } else {
    a.apply ? WeightsAs<true, false>(s, a, begin, end) : WeightsAs<false, false>(s, a, begin, end);
  }
}

// --- copies ---

// Some strips of all images at a time, so that both sides stay in the cache.
void PackX(const DenseShape& s, const float* x, int64_t begin, int64_t end, float* packed) {
  constexpr int64_t kStrips = 8;
  const hn::CappedTag<float, kDenseStrip> d;
  const int64_t whole = std::min(end, s.in / kDenseStrip);
  for (int64_t first = begin; first < whole; first += kStrips)
    for (int64_t m = 0; m < s.batch; ++m)
      for (int64_t strip = first; strip < std::min(first + kStrips, whole); ++strip) {
        const float* from = x + m * s.in + strip * kDenseStrip;
        float* to = packed + (strip * s.batch + m) * kDenseStrip;
        for (int64_t i = 0; i < kDenseStrip; i += static_cast<int64_t>(hn::Lanes(d)))
          hn::StoreU(hn::LoadU(d, from + i), d, to + i);
      }
  if (whole == end) return;
  for (int64_t m = 0; m < s.batch; ++m) {
    float* to = packed + (whole * s.batch + m) * kDenseStrip;
    std::fill_n(std::copy_n(x + m * s.in + whole * kDenseStrip, s.in % kDenseStrip, to),
                kDenseStrip - s.in % kDenseStrip, 0.0f);
  }
}

void PackDy(const DenseShape& s, const float* dy, int64_t begin, int64_t end, float* packed) {
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t columns = std::min(kDensePanel, s.out - panel * kDensePanel);
    for (int64_t m = 0; m < s.batch; ++m) {
      float* to = packed + (panel * s.batch + m) * kDensePanel;
      std::fill_n(std::copy_n(dy + m * s.out + panel * kDensePanel, columns, to), kDensePanel - columns, 0.0f);
    }
  }
}

}  // namespace

const DenseSimd* DenseTable() {
  static constexpr DenseSimd table = {PackX, PackDy, Forward, InputGradient, Weights, kDotColumns};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(DenseTable);
const DenseSimd& GetDenseSimd() { return *HWY_DYNAMIC_DISPATCH(DenseTable)(); }
}  // namespace muster::cpu
#endif
