#pragma once

#include <cstdint>

namespace muster::cpu {

// A window of NHWC pixels: "rows" x "columns" real cells, "row_stride" and "column_stride" floats apart.
struct PoolWindow {
  int64_t rows, columns, row_stride, column_stride;
};

// How "max_gradient" writes dx: adds to what is there, or writes all cells of the window; relu: maxima that are not positive
// get nothing.
struct MaxGradientMode {
  bool writes, relu;
};

struct PoolSimd {
  // y[c] = the largest of the window's cells; x points to the first of them. NaN beats every number.
  void (*max)(const PoolWindow&, const float* x, int64_t channels, float* y);
  // Adds dy[c] to the gradient of the first largest cell; x and dx point to the window's first cell.
  void (*max_gradient)(MaxGradientMode mode, const PoolWindow&, const float* x, const float* dy, int64_t channels, float* dx);
  // y[c] = factor * sum of the window's cells.
  void (*average)(const PoolWindow&, const float* x, float factor, int64_t channels, float* y);
  // dx[c] = sum of row_factors[i] * column_factors[j] * dy over a window of the pooled gradient's pixels (i, j): those whose
  // windows hold the cell of dx.
  void (*average_gradient)(const PoolWindow&, const float* dy, const float* row_factors, const float* column_factors,
                           int64_t channels, float* dx);
};

// For this CPU.
const PoolSimd& GetPoolSimd();

}  // namespace muster::cpu
