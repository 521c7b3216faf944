#include "graph/ops/window.h"

#include <algorithm>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

void CheckAxis(const char* axis, const WindowAxis& a, int64_t before, int64_t after) {
  if (a.size < 1 || a.stride < 1 || a.dilation < 1)
    throw InvalidArgument(fmt::format("the window's {} has size {}, stride {}, dilation {}; each must be at least 1",
                                      axis, a.size, a.stride, a.dilation));
  if (before < 0 || after < 0)
    throw InvalidArgument(fmt::format("paddings cannot be negative: {} and {} along the {}", before, after, axis));
}

std::string Describe(const Shape& x, DataFormat format, const Shape& filter, const char* filter_order) {
  return fmt::format("input {} ({}) and filter {} ({})", x.ToString(), DataFormatName(format), filter.ToString(),
                     filter_order);
}

void CheckRank4(const char* what, const char* order, const Shape& shape) {
  if (shape.rank() != 4)
    throw InvalidArgument(
        fmt::format("the {} must have 4 dimensions ({}), not shape {}", what, order, shape.ToString()));
}

// What the two kinds of convolution share: everything but the meaning of the filter's last two axes.
ConvGeometry SlideFilter(const Shape& x, const Shape& filter, const ConvAttrs& attrs) {
  const ImageDims in = ImageDimsOf(x, attrs.data_format);
  const auto& pad = attrs.explicit_paddings;
  ConvGeometry g;
  g.batch = in.batch;
  g.in_channels = in.channels;
  g.h =
      SlideWindow("height", in.height, filter[0], attrs.strides[0], attrs.dilations[0], attrs.padding, pad[0], pad[1]);
  g.w = SlideWindow("width", in.width, filter[1], attrs.strides[1], attrs.dilations[1], attrs.padding, pad[2], pad[3]);
  return g;
}

}  // namespace

WindowAxis SlideWindow(const char* axis, int64_t input, int64_t size, int64_t stride, int64_t dilation, Padding padding,
                       int64_t explicit_before, int64_t explicit_after) {
  WindowAxis a{input, size, stride, dilation};
  if (padding == Padding::kExplicit) {
    a.pad_before = explicit_before;
    a.pad_after = explicit_after;
  }
  CheckAxis(axis, a, a.pad_before, a.pad_after);
  if (padding == Padding::kSame) {
    a.output = CeilDiv(input, stride);
    const int64_t total = std::max<int64_t>((a.output - 1) * stride + a.extent() - input, 0);
    a.pad_before = total / 2;
    a.pad_after = total - a.pad_before;
    if (a.output < 1) throw InvalidArgument(fmt::format("the input's {} is 0", axis));
    return a;
  }
  const int64_t padded = input + a.pad_before + a.pad_after;
  if (padded < a.extent())
    throw InvalidArgument(fmt::format("the window's {} of {} does not fit into {} (padding {})", axis, a.extent(),
                                      padded, padding == Padding::kValid ? "VALID" : "EXPLICIT"));
  a.output = (padded - a.extent()) / stride + 1;
  return a;
}

ImageDims ImageDimsOf(const Shape& shape, DataFormat format) {
  CheckRank4("input", DataFormatName(format), shape);
  if (format == DataFormat::kNHWC) return {shape[0], shape[1], shape[2], shape[3]};
  return {shape[0], shape[2], shape[3], shape[1]};
}

Shape ImageShape(const ImageDims& d, DataFormat format) {
  if (format == DataFormat::kNHWC) return {d.batch, d.height, d.width, d.channels};
  return {d.batch, d.channels, d.height, d.width};
}

const char* DataFormatName(DataFormat format) { return format == DataFormat::kNHWC ? "NHWC" : "NCHW"; }

ConvGeometry Conv2DGeometry(const Shape& x, const Shape& filter, const ConvAttrs& attrs) {
  CheckRank4("filter", "HWIO", filter);
  ConvGeometry g = SlideFilter(x, filter, attrs);
  if (filter[2] < 1 || g.in_channels < 1 || g.in_channels % filter[2] != 0)
    throw InvalidArgument(fmt::format("{}: the input has {} channels, the filter expects {}",
                                      Describe(x, attrs.data_format, filter, "HWIO"), g.in_channels, filter[2]));
  g.groups = g.in_channels / filter[2];
  g.out_channels = filter[3];
  if (g.out_channels % g.groups != 0)
    throw InvalidArgument(fmt::format("{}: {} output channels do not split into {} groups",
                                      Describe(x, attrs.data_format, filter, "HWIO"), g.out_channels, g.groups));
  return g;
}

ConvGeometry DepthwiseGeometry(const Shape& x, const Shape& filter, const ConvAttrs& attrs) {
  CheckRank4("filter", "height, width, channels, multiplier", filter);
  ConvGeometry g = SlideFilter(x, filter, attrs);
  if (filter[2] != g.in_channels || g.in_channels < 1)
    throw InvalidArgument(fmt::format("{}: the input has {} channels, the filter expects {}",
                                      Describe(x, attrs.data_format, filter, "HWCM"), g.in_channels, filter[2]));
  g.groups = g.in_channels;
  g.out_channels = g.in_channels * filter[3];
  return g;
}

PoolGeometry PoolGeometryOf(const Shape& x, const PoolAttrs& attrs) {
  const ImageDims in = ImageDimsOf(x, attrs.data_format);
  const auto& pad = attrs.explicit_paddings;
  PoolGeometry g{in.batch, in.channels};
  g.h = SlideWindow("height", in.height, attrs.ksize[0], attrs.strides[0], 1, attrs.padding, pad[0], pad[1]);
  g.w = SlideWindow("width", in.width, attrs.ksize[1], attrs.strides[1], 1, attrs.padding, pad[2], pad[3]);
  for (const WindowAxis& axis : {g.h, g.w})
    if (axis.pad_before >= axis.size || axis.pad_after >= axis.size)
      throw InvalidArgument(
          fmt::format("paddings of a pooling must be smaller than its window: {} and {} with a window of {}",
                      axis.pad_before, axis.pad_after, axis.size));
  return g;
}

}  // namespace muster
