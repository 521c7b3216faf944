#include "backend/reference/product.h"

namespace muster::reference {
namespace {

// Half a row of a tile. The compiler splits it where the machine's registers are narrower.
typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));
static_assert(kTileCols * sizeof(double) == 2 * sizeof(Lanes));

__attribute__((always_inline)) inline void MultiplyTile(const double* a, const double* b, int64_t depth, double* c) {
  Lanes* out = reinterpret_cast<Lanes*>(c);
  Lanes sum[kTileRows][2];
  for (int i = 0; i < kTileRows; ++i) sum[i][0] = out[2 * i], sum[i][1] = out[2 * i + 1];
  for (int64_t k = 0; k < depth; ++k, a += kTileRows, b += kTileCols) {
    const Lanes* row = reinterpret_cast<const Lanes*>(b);
    const Lanes left = row[0], right = row[1];
    for (int i = 0; i < kTileRows; ++i) {
      sum[i][0] += a[i] * left;
      sum[i][1] += a[i] * right;
    }
  }
  for (int i = 0; i < kTileRows; ++i) out[2 * i] = sum[i][0], out[2 * i + 1] = sum[i][1];
}

__attribute__((always_inline)) inline void MultiplyTiles(const double* a, const double* b, int64_t row_tiles,
                                                         int64_t col_tiles, int64_t depth, double* c) {
  for (int64_t col = 0; col < col_tiles; ++col)
    for (int64_t row = 0; row < row_tiles; ++row)
      MultiplyTile(a + row * kTileRows * depth, b + col * kTileCols * depth, depth,
                   c + (row * col_tiles + col) * kTileRows * kTileCols);
}

using MultiplyFn = void (*)(const double*, const double*, int64_t, int64_t, int64_t, double*);

void MultiplyAnywhere(const double* a, const double* b, int64_t rows, int64_t cols, int64_t depth, double* c) {
  MultiplyTiles(a, b, rows, cols, depth, c);
}

#if defined(__x86_64__)
// The same loops for wider registers: whole models in float64 take minutes otherwise.
__attribute__((target("avx2,fma"))) void MultiplyAvx2(const double* a, const double* b, int64_t rows, int64_t cols,
                                                      int64_t depth, double* c) {
  MultiplyTiles(a, b, rows, cols, depth, c);
}

MultiplyFn ChooseMultiply() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? MultiplyAvx2 : MultiplyAnywhere;
}
#else
MultiplyFn ChooseMultiply() { return MultiplyAnywhere; }
#endif

}  // namespace

void MultiplyPanels(const double* a, const double* b, int64_t row_tiles, int64_t col_tiles, int64_t depth, double* c) {
  static const MultiplyFn multiply = ChooseMultiply();
  multiply(a, b, row_tiles, col_tiles, depth, c);
}

}  // namespace muster::reference
