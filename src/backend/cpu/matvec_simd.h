#pragma once

#include <cstdint>

// Matrix-vector products, which only stream a matrix through: the pieces that matmul.cc shares out among threads.
namespace muster::cpu {

// Rows that one dots() call takes at most.
inline constexpr int64_t kDotRows = 8;

struct MatVecSimd {
  // out[i] = dot(row i of a, v) for rows <= kDotRows rows of k elements that lie "stride" apart.
  void (*dots)(const float* a, int64_t rows, int64_t k, int64_t stride, const float* v, float* out);
  // out[j] = sum over i of v[i] * a[i][j], for "columns" columns of k rows that lie "stride" apart.
  void (*weighted_rows)(const float* a, int64_t k, int64_t columns, int64_t stride, const float* v, float* out);
  // out[j] = scale * b[j] + bias[j] for n elements; bias may be nullptr; negative results become 0 if relu.
  void (*scaled)(float scale, const float* b, const float* bias, bool relu, int64_t n, float* out);
};

// For this CPU.
const MatVecSimd& GetMatVecSimd();

}  // namespace muster::cpu
