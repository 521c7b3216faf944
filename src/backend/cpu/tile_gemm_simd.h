#pragma once

#include <cstdint>

// Small matrix products of one thread, over operands that lie in the caches. Sums run over the depth in order, one
// fused multiply-add at a time, so an element's bits do not depend on how the caller cuts rows and columns.
namespace muster::cpu {

// c [rows, columns] = a x b, or c += a x b. All strides count floats.
struct TileGemm {
  int64_t rows, columns, depth;  // columns: a multiple of kGemmPadding
  const float* a;                // [rows, depth]; transposed: [depth, rows]
  int64_t a_stride;
  const float* b;  // panels of b_panel columns, panel_stride apart, each [depth, b_panel] with rows b_stride apart
  int64_t b_stride, panel_stride;
  float* c;
  int64_t c_stride;
  bool accumulate;
};

// Columns and channels are padded to a multiple of this many floats: a whole number of vectors on every CPU.
inline constexpr int64_t kGemmPadding = 16;

struct TileGemmSimd {
  int64_t panel;  // columns of a panel of b, a multiple of the vector's length
  int64_t rows;   // rows that are computed at once: multiples of it waste nothing
  void (*multiply)(const TileGemm&);
  void (*multiply_transposed)(const TileGemm&);  // with a transposed
};

// For this CPU.
const TileGemmSimd& GetTileGemmSimd();

}  // namespace muster::cpu
