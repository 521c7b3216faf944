#include "backend/cpu/tile_gemm_simd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "backend/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/tile_gemm_simd.cc"
#include "hwy/foreach_target.h"
#include "backend/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace muster::cpu {
namespace HWY_NAMESPACE {
namespace {

// Accumulators fill the registers: 14 x 2 of 32 with AVX-512, 6 x 2 of 16 with AVX2.
constexpr int kPanelVectors = 2;
#if HWY_TARGET <= HWY_AVX3
constexpr int kMaxRows = 14;
#else
constexpr int kMaxRows = 6;
#endif

// Rows of a are reached from a few base pointers, three rows each: as many as an address with a scaled index can name.
constexpr int kRowsPerBase = 3;

template <int kRows, int kVectors, bool kTransposed>
HWY_INLINE void Block(const TileGemm& g, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                      float* HWY_RESTRICT c) {
  const F32 d;
  constexpr int kBases = (kRows + kRowsPerBase - 1) / kRowsPerBase;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), stride = g.a_stride, b_stride = g.b_stride;
  VF32 sums[kRows * kVectors];
#pragma GCC unroll 32
  for (int i = 0; i < kRows * kVectors; ++i) sums[i] = hn::Zero(d);
  const float* bases[kBases];
  for (int i = 0; i < kBases; ++i) bases[i] = a + i * kRowsPerBase * stride;
  for (int64_t k = 0; k < g.depth; ++k, b += b_stride) {
    VF32 columns[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) columns[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const VF32 value =
          hn::Set(d, kTransposed ? a[k * stride + r] : bases[r / kRowsPerBase][r % kRowsPerBase * stride + k]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r * kVectors + v] = hn::MulAdd(value, columns[v], sums[r * kVectors + v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      float* to = c + r * g.c_stride + v * lanes;
      const VF32 sum = sums[r * kVectors + v];
      hn::StoreU(g.accumulate ? hn::Add(hn::LoadU(d, to), sum) : sum, d, to);
    }
}

using BlockFn = void (*)(const TileGemm&, const float*, const float*, float*);

template <int kVectors, bool kTransposed, int... kRows>
constexpr std::array<BlockFn, kMaxRows> BlocksOf(std::integer_sequence<int, kRows...>) {
  return {Block<kRows + 1, kVectors, kTransposed>...};
}

template <int kVectors, bool kTransposed>
void MultiplyPanel(const TileGemm& g, const float* b, float* c) {
  static constexpr auto kBlocks = BlocksOf<kVectors, kTransposed>(std::make_integer_sequence<int, kMaxRows>());
  for (int64_t r = 0; r < g.rows; r += kMaxRows) {
    const int64_t rows = std::min<int64_t>(kMaxRows, g.rows - r);
    kBlocks[static_cast<size_t>(rows - 1)](g, g.a + (kTransposed ? r : r * g.a_stride), b, c + r * g.c_stride);
  }
}

template <bool kTransposed>
void Multiply(const TileGemm& g) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(F32())), panel = kPanelVectors * lanes;
  int64_t column = 0;
  const float* b = g.b;
  for (; column + panel <= g.columns; column += panel, b += g.panel_stride)
    MultiplyPanel<kPanelVectors, kTransposed>(g, b, g.c + column);
  if (column < g.columns) MultiplyPanel<1, kTransposed>(g, b, g.c + column);
}

}  // namespace

const TileGemmSimd* TileGemmTable() {
  static const TileGemmSimd table = {kPanelVectors * static_cast<int64_t>(hn::Lanes(F32())), kMaxRows, Multiply<false>,
                                     Multiply<true>};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace muster::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::cpu {
HWY_EXPORT(TileGemmTable);
const TileGemmSimd& GetTileGemmSimd() { return *HWY_DYNAMIC_DISPATCH(TileGemmTable)(); }
}  // namespace muster::cpu
#endif
