#pragma once

#include <cstdint>

#include "muster/attrs.h"

namespace muster {

// The geometry of sliding windows: TensorFlow's padding rules and what convolutions and poolings compute from them.
// Pure functions of shapes and attributes, used by the shape rules and by every backend's kernels.

// One axis of a sliding window. Window position o covers the input cells o*stride - pad_before + i*dilation for i in
// [0, size); cells outside [0, input) are padding.
struct WindowAxis {
  int64_t input = 0, size = 1, stride = 1, dilation = 1;
  int64_t output = 0, pad_before = 0, pad_after = 0;

  // Input cells from the first to the last that one window covers.
  int64_t extent() const { return (size - 1) * dilation + 1; }
  // The input cell under element i of window o; may lie outside the input.
  int64_t Cell(int64_t o, int64_t i) const { return o * stride - pad_before + i * dilation; }
};

// Fills in output and padding:
//   SAME      output = ceil(input/stride); total padding = max((output-1)*stride + extent - input, 0), the smaller half
//   before VALID     output = ceil((input-extent+1)/stride), no padding EXPLICIT  output =
//   floor((input+before+after-extent)/stride) + 1
// Source: tensorflow/core/framework/common_shape_fns, GetWindowedOutputSizeVerbose. "explicit_before" and
// "explicit_after" are read for EXPLICIT only. Throws InvalidArgument for sizes, strides or dilations below 1, negative
// paddings, or a window that does not fit; the message begins with the window's place: "the window's height of 5 does
// not fit …".
WindowAxis SlideWindow(const char* axis, int64_t input, int64_t size, int64_t stride, int64_t dilation, Padding padding,
                       int64_t explicit_before = 0, int64_t explicit_after = 0);

// The four axes of a batch of images, whatever their order in memory.
struct ImageDims {
  int64_t batch = 0, height = 0, width = 0, channels = 0;
};
// Throws InvalidArgument unless the shape has rank 4.
ImageDims ImageDimsOf(const Shape& shape, DataFormat format);
Shape ImageShape(const ImageDims& dims, DataFormat format);
const char* DataFormatName(DataFormat format);  // "NHWC"

// A convolution. Filters are [height, width, group_in, out_channels]: a grouped convolution splits the input's and the
// output's channels into "groups" runs, run g of the output seeing only run g of the input. A depthwise filter
// [height, width, channels, multiplier] is in memory just that with one group per channel.
struct ConvGeometry {
  int64_t batch = 0, in_channels = 0, out_channels = 0;
  int64_t groups = 1;
  WindowAxis h, w;

  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  ImageDims input() const { return {batch, h.input, w.input, in_channels}; }
  ImageDims output() const { return {batch, h.output, w.output, out_channels}; }
};
// Throw InvalidArgument naming both shapes and the data format when x and the filter do not go together.
ConvGeometry Conv2DGeometry(const Shape& x, const Shape& filter, const ConvAttrs& attrs);
ConvGeometry DepthwiseGeometry(const Shape& x, const Shape& filter, const ConvAttrs& attrs);

// A pooling. Every window holds at least one real cell.
struct PoolGeometry {
  int64_t batch = 0, channels = 0;
  WindowAxis h, w;

  ImageDims output() const { return {batch, h.output, w.output, channels}; }
};
PoolGeometry PoolGeometryOf(const Shape& x, const PoolAttrs& attrs);

}  // namespace muster
