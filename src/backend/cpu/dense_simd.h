#pragma once

#include <cstdint>

// The inner loops of dense layers: y = x w, dx = dy w^T and dw = x^T dy for x [batch, in], w [in, out], y [batch, out].
//
// Weights, by far the largest array, lie in panels of kDensePanel columns, one after the other; within a panel, row
// after row. So each pass reads them from front to back. x and dy are copied into forms of their own before.
//
// Every element of a result is a chain of additions whose order the shape alone decides, into whatever ranges the
// caller cuts the work.
namespace muster::cpu {

inline constexpr int64_t kDensePanel = 48;
inline constexpr int64_t kDenseStrip = 8;     // rows of the weights, or columns of x, that are worked on at once
inline constexpr int64_t kDenseColumns = 16;  // columns of y that one caller takes at least

struct DenseShape {
  int64_t batch, in, out;
  int64_t panels() const { return (out + kDensePanel - 1) / kDensePanel; }
  int64_t strips() const { return (in + kDenseStrip - 1) / kDenseStrip; }
  int64_t column_groups() const { return (out + kDenseColumns - 1) / kDenseColumns; }
  // Sizes in floats of x as [strips][batch][kDenseStrip] and dy as [panels][batch][kDensePanel], both filled up with
  // zeros.
  int64_t packed_x() const { return strips() * batch * kDenseStrip; }
  int64_t packed_dy() const { return panels() * batch * kDensePanel; }
};

// Where the weights, or their gradient, are: panels, or plain rows.
struct DensePlaces {
  int64_t row_stride, panel_stride;  // floats
  bool is_plain;
};

struct DenseForwardArgs {
  const float *packed_x, *w;
  int64_t panel_stride;
  const float* bias;  // [out]; nullptr: none
  bool relu;
  float* y;
};

struct DenseInputArgs {
  const float *packed_dy, *w;
  int64_t panel_stride;
  float* dx;
};

struct DenseWeightsArgs {
  const float *packed_x, *packed_dy;
  float* dw;  // written, or with "apply" the weights themselves:
  DensePlaces places;
  bool apply;  // w -= rate * (x^T dy + decay * w)
  float rate, decay;
};

struct DenseSimd {
  void (*pack_x)(const DenseShape&, const float* x, int64_t strip_begin, int64_t strip_end, float* packed);
  void (*pack_dy)(const DenseShape&, const float* dy, int64_t panel_begin, int64_t panel_end, float* packed);
  // Columns [begin, end) of y in units of kDenseColumns.
  void (*forward)(const DenseShape&, const DenseForwardArgs&, int64_t begin, int64_t end);
  // Columns [begin, end) of dx.
  void (*input_gradient)(const DenseShape&, const DenseInputArgs&, int64_t begin, int64_t end);
  // Rows of dw, [begin, end) in units of kDenseStrip.
  void (*weights)(const DenseShape&, const DenseWeightsArgs&, int64_t begin, int64_t end);
  int64_t input_columns;  // the best ranges of "input_gradient" are multiples of this
};

// For this CPU.
const DenseSimd& GetDenseSimd();

}  // namespace muster::cpu
