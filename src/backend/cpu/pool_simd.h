#pragma once

#include <cstdint>

// The inner loops of pooling over NHWC arrays of T, float or BFloat16; arithmetic is single precision.
namespace muster::cpu {

// A window of pixels: "rows" x "columns" real cells, "row_stride" and "column_stride" values apart.
struct PoolWindow {
  int64_t rows, columns, row_stride, column_stride;
};

// How "max_gradient" writes dx: adds to what is there, or writes all cells of the window; relu: maxima that are not
// positive get nothing.
struct MaxGradientMode {
  bool writes, relu;
};

template <typename T>
struct PoolSimd {
  // y[c] = the largest of the window's cells; x points to the first of them. NaN beats every number.
  void (*max)(const PoolWindow&, const T* x, int64_t channels, T* y);
  // Adds dy[c] to the gradient of the first largest cell; x and dx point to the window's first cell. The second form
  // adds in single precision, with the strides of x.
  void (*max_gradient)(MaxGradientMode mode, const PoolWindow&, const T* x, const T* dy, int64_t channels, T* dx);
  void (*max_gradient_sums)(MaxGradientMode mode, const PoolWindow&, const T* x, const T* dy, int64_t channels,
                            float* dx);
  // y[c] = factor * sum of the window's cells.
  void (*average)(const PoolWindow&, const T* x, float factor, int64_t channels, T* y);
  // dx[c] = sum of row_factors[i] * column_factors[j] * dy over a window of the pooled gradient's pixels (i, j): those
  // whose windows hold the cell of dx.
  void (*average_gradient)(const PoolWindow&, const T* dy, const float* row_factors, const float* column_factors,
                           int64_t channels, T* dx);
};

// For this CPU.
template <typename T>
const PoolSimd<T>& GetPoolSimd();

}  // namespace muster::cpu
