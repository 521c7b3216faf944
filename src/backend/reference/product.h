#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace muster::reference {

// The blocked matrix product behind MatMul and the convolutions: C[rows,cols] = sum over k of A[rows,k] * B[k,cols],
// always in double. The caller says how blocks of A and B are copied out of its tensors (a convolution gathers pixels
// there) and what becomes of a finished block of C. Single-threaded; terms are added in the order of k, so results
// depend on nothing else. The block sizes keep a block of A and of C in the second-level cache and a tile of C in
// registers.
inline constexpr int64_t kTileRows = 4, kTileCols = 8;
inline constexpr int64_t kBlockRows = 96, kBlockCols = 256, kBlockDepth = 256;

// A block of A, as tiles of kTileRows rows with k running slowest inside a tile.
struct RowPanel {
  double* data;
  int64_t depth;
  double& at(int64_t row, int64_t k) const {
    const auto r = static_cast<uint64_t>(row);
    return data[(r / kTileRows) * kTileRows * static_cast<uint64_t>(depth) + static_cast<uint64_t>(k) * kTileRows +
                r % kTileRows];
  }
};

// A block of B, as tiles of kTileCols columns with k running slowest inside a tile.
struct ColPanel {
  double* data;
  int64_t depth;
  double& at(int64_t k, int64_t col) const {
    const auto c = static_cast<uint64_t>(col);
    return data[(c / kTileCols) * kTileCols * static_cast<uint64_t>(depth) + static_cast<uint64_t>(k) * kTileCols +
                c % kTileCols];
  }
};

// A finished block of C, as tiles of kTileRows x kTileCols.
struct ProductBlock {
  const double* data;
  int64_t col_tiles;
  double at(int64_t row, int64_t col) const {
    const auto r = static_cast<uint64_t>(row), c = static_cast<uint64_t>(col);
    const uint64_t tile = (r / kTileRows) * static_cast<uint64_t>(col_tiles) + c / kTileCols;
    return data[(tile * kTileRows + r % kTileRows) * kTileCols + c % kTileCols];
  }
};

// Adds A-block times B-block to the block of C.
void MultiplyPanels(const double* a, const double* b, int64_t row_tiles, int64_t col_tiles, int64_t depth, double* c);

inline constexpr int64_t kProductWorkspaceBytes =
    (kBlockRows * kBlockDepth + kBlockDepth * kBlockCols + kBlockRows * kBlockCols) *
    static_cast<int64_t>(sizeof(double));

// workspace: kProductWorkspaceBytes.
// pack_a(row, rows, k, depth, RowPanel): fills panel.at(0..rows, 0..depth) with A[row.., k..].
// pack_b(k, depth, col, cols, ColPanel): fills panel.at(0..depth, 0..cols) with B[k.., col..].
// store(row, rows, col, cols, ProductBlock): block.at(0..rows, 0..cols) are C[row.., col..].
template <typename PackA, typename PackB, typename Store>
void BlockedProduct(int64_t rows, int64_t cols, int64_t depth, void* workspace, PackA pack_a, PackB pack_b,
                    Store store) {
  double* a = static_cast<double*>(workspace);
  double* b = a + kBlockRows * kBlockDepth;
  double* c = b + kBlockDepth * kBlockCols;
  for (int64_t col = 0; col < cols; col += kBlockCols) {
    const int64_t num_cols = std::min(kBlockCols, cols - col), col_tiles = (num_cols + kTileCols - 1) / kTileCols;
    for (int64_t row = 0; row < rows; row += kBlockRows) {
      const int64_t num_rows = std::min(kBlockRows, rows - row), row_tiles = (num_rows + kTileRows - 1) / kTileRows;
      std::fill_n(c, row_tiles * kTileRows * col_tiles * kTileCols, 0.0);
      for (int64_t k = 0; k < depth; k += kBlockDepth) {
        const int64_t num_k = std::min(kBlockDepth, depth - k);
        // What lies beyond the edge of A or B counts as zero.
        if (num_rows % kTileRows != 0) std::fill_n(a + (row_tiles - 1) * kTileRows * num_k, kTileRows * num_k, 0.0);
        if (num_cols % kTileCols != 0) std::fill_n(b + (col_tiles - 1) * kTileCols * num_k, kTileCols * num_k, 0.0);
        pack_a(row, num_rows, k, num_k, RowPanel{a, num_k});
        pack_b(k, num_k, col, num_cols, ColPanel{b, num_k});
        MultiplyPanels(a, b, row_tiles, col_tiles, num_k, c);
      }
      store(row, num_rows, col, num_cols, ProductBlock{c, col_tiles});
    }
  }
}

}  // namespace muster::reference
