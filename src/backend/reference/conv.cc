// Conv2D, both its gradients and their fused forms: NHWC, any stride, dilation, padding and number of groups.
//
// Each is a matrix product per group whose big factor is gathered from the images block by block:
//   forward          y[pixel, oc]      = sum over (tap, ic)  x[cell under tap, ic] * w[tap, ic, oc]
//   input gradient   dx[cell, ic]      = sum over (tap, oc)  dy[pixel whose tap lies on cell, oc] * w[tap, ic, oc]
//   filter gradient  dw[(tap, ic), oc] = sum over pixels     x[cell under tap, ic] * dy[pixel, oc]
// A tap is one element (kh, kw) of the filter, a pixel one position of the output, a cell one position of the input.
#include <algorithm>

#include "backend/reference/product.h"
#include "backend/reference/reference_rows.h"
#include "base/check.h"
#include "graph/ops/window.h"

namespace muster {
namespace {

using reference::BlockedProduct, reference::ColPanel, reference::kProductWorkspaceBytes, reference::ProductBlock,
    reference::RowPanel;

// A position in a batch of images.
struct Position {
  int64_t image, y, x;
};
Position PositionOf(int64_t index, int64_t height, int64_t width) {
  return {index / (height * width), index / width % height, index % width};
}

// One group's share of a convolution.
struct Group {
  const ConvGeometry& g;
  int64_t first_in, first_out;  // the group's first channels

  int64_t num_taps() const { return g.h.size * g.w.size; }
  // Where channel first_in of the cell under this tap lies in x, or -1 for padding.
  int64_t CellOffset(Position pixel, int64_t tap) const {
    const int64_t y = g.h.Cell(pixel.y, tap / g.w.size), x = g.w.Cell(pixel.x, tap % g.w.size);
    if (y < 0 || y >= g.h.input || x < 0 || x >= g.w.input) return -1;
    return ((pixel.image * g.h.input + y) * g.w.input + x) * g.in_channels + first_in;
  }
  int64_t FilterOffset(int64_t tap, int64_t ic) const { return (tap * g.group_in() + ic) * g.out_channels + first_out; }
};

template <typename F>
void ForEachGroup(const ConvGeometry& g, F run) {
  for (int64_t i = 0; i < g.groups; ++i) run(Group{g, i * g.group_in(), i * g.group_out()});
}

// Calls run(major, minor, count, offset) for the pieces of [begin, begin+count) that lie in one row of "width" each.
template <typename F>
void ForEachRun(int64_t begin, int64_t count, int64_t width, F run) {
  for (int64_t done = 0; done < count;) {
    const int64_t major = (begin + done) / width, minor = (begin + done) % width;
    const int64_t length = std::min(width - minor, count - done);
    run(major, minor, length, done);
    done += length;
  }
}

template <typename T>
void ConvForward(const Group& group, const T* x, const T* w, const T* bias, Activation activation, void* workspace,
                 T* y) {
  const ConvGeometry& g = group.g;
  const auto gather = [&](int64_t row, int64_t rows, int64_t k, int64_t depth, RowPanel panel) {
    for (int64_t i = 0; i < rows; ++i) {
      const Position pixel = PositionOf(row + i, g.h.output, g.w.output);
      ForEachRun(k, depth, g.group_in(), [&](int64_t tap, int64_t ic, int64_t count, int64_t at) {
        const int64_t cell = group.CellOffset(pixel, tap);
        for (int64_t j = 0; j < count; ++j)
          panel.at(i, at + j) = cell < 0 ? 0.0 : static_cast<double>(x[cell + ic + j]);
      });
    }
  };
  const auto filter = [&](int64_t k, int64_t depth, int64_t col, int64_t cols, ColPanel panel) {
    for (int64_t i = 0; i < depth; ++i)
      for (int64_t j = 0; j < cols; ++j) panel.at(i, j) = w[group.FilterOffset(0, k + i) + col + j];
  };
  const auto store = [&](int64_t row, int64_t rows, int64_t col, int64_t cols, ProductBlock block) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) {
        const int64_t oc = group.first_out + col + j;
        double value = block.at(i, j) + (bias == nullptr ? 0.0 : static_cast<double>(bias[oc]));
        if (activation == Activation::kRelu && value < 0) value = 0;
        y[(row + i) * g.out_channels + oc] = static_cast<T>(value);
      }
  };
  BlockedProduct(g.batch * g.h.output * g.w.output, g.group_out(), group.num_taps() * g.group_in(), workspace, gather,
                 filter, store);
}

// The cells of one axis whose index is "first" modulo the stride, and the taps that can lie on them: all of these cells
// see the same taps, so that a strided gradient does not multiply by the zeros between its pixels.
struct Phase {
  int64_t first, count;
  std::vector<int64_t> taps;
};

std::vector<Phase> PhasesOf(const WindowAxis& axis) {
  std::vector<Phase> phases;
  for (int64_t first = 0; first < std::min(axis.stride, axis.input); ++first) {
    Phase phase{first, (axis.input - first + axis.stride - 1) / axis.stride, {}};
    for (int64_t tap = 0; tap < axis.size; ++tap)
      if ((first + axis.pad_before - tap * axis.dilation) % axis.stride == 0) phase.taps.push_back(tap);
    phases.push_back(std::move(phase));
  }
  return phases;
}

template <typename T>
void ConvBackpropInput(const Group& group, const Phase& rows_phase, const Phase& cols_phase, const T* w, const T* dy,
                       void* workspace, T* dx) {
  const ConvGeometry& g = group.g;
  const int64_t taps_x = static_cast<int64_t>(cols_phase.taps.size()),
                taps_y = static_cast<int64_t>(rows_phase.taps.size());
  const auto tap_y = [&](int64_t tap) { return rows_phase.taps[static_cast<size_t>(tap / taps_x)]; };
  const auto tap_x = [&](int64_t tap) { return cols_phase.taps[static_cast<size_t>(tap % taps_x)]; };
  const auto cell_of = [&](int64_t row) {
    Position cell = PositionOf(row, rows_phase.count, cols_phase.count);
    cell.y = rows_phase.first + cell.y * g.h.stride;
    cell.x = cols_phase.first + cell.x * g.w.stride;
    return cell;
  };
  // The output position of which a tap lies on the cell: exact division, and outside the output for some.
  const auto pixel_offset = [&](Position cell, int64_t tap) -> int64_t {
    const int64_t y = cell.y + g.h.pad_before - tap_y(tap) * g.h.dilation,
                  x = cell.x + g.w.pad_before - tap_x(tap) * g.w.dilation;
    if (y < 0 || x < 0 || y / g.h.stride >= g.h.output || x / g.w.stride >= g.w.output) return -1;
    return ((cell.image * g.h.output + y / g.h.stride) * g.w.output + x / g.w.stride) * g.out_channels +
           group.first_out;
  };
  const auto gather = [&](int64_t row, int64_t rows, int64_t k, int64_t depth, RowPanel panel) {
    for (int64_t i = 0; i < rows; ++i) {
      const Position cell = cell_of(row + i);
      ForEachRun(k, depth, g.group_out(), [&](int64_t tap, int64_t oc, int64_t count, int64_t at) {
        const int64_t pixel = pixel_offset(cell, tap);
        for (int64_t j = 0; j < count; ++j)
          panel.at(i, at + j) = pixel < 0 ? 0.0 : static_cast<double>(dy[pixel + oc + j]);
      });
    }
  };
  const auto filter = [&](int64_t k, int64_t depth, int64_t col, int64_t cols, ColPanel panel) {
    ForEachRun(k, depth, g.group_out(), [&](int64_t tap, int64_t oc, int64_t count, int64_t at) {
      const int64_t in_filter = tap_y(tap) * g.w.size + tap_x(tap);
      for (int64_t j = 0; j < cols; ++j) {
        const T* row = w + group.FilterOffset(in_filter, col + j) + oc;
        for (int64_t i = 0; i < count; ++i) panel.at(at + i, j) = row[i];
      }
    });
  };
  const auto store = [&](int64_t row, int64_t rows, int64_t col, int64_t cols, ProductBlock block) {
    for (int64_t i = 0; i < rows; ++i) {
      const Position cell = cell_of(row + i);
      T* out = dx + ((cell.image * g.h.input + cell.y) * g.w.input + cell.x) * g.in_channels + group.first_in + col;
      for (int64_t j = 0; j < cols; ++j) out[j] = static_cast<T>(block.at(i, j));
    }
  };
  BlockedProduct(g.batch * rows_phase.count * cols_phase.count, g.group_in(), taps_y * taps_x * g.group_out(),
                 workspace, gather, filter, store);
}

template <typename T>
void ConvBackpropFilter(const Group& group, const T* x, const T* dy, void* workspace, T* dw) {
  const ConvGeometry& g = group.g;
  const auto gather = [&](int64_t row, int64_t rows, int64_t k, int64_t depth, RowPanel panel) {
    for (int64_t i = 0; i < depth; ++i) {
      const Position pixel = PositionOf(k + i, g.h.output, g.w.output);
      ForEachRun(row, rows, g.group_in(), [&](int64_t tap, int64_t ic, int64_t count, int64_t at) {
        const int64_t cell = group.CellOffset(pixel, tap);
        for (int64_t j = 0; j < count; ++j)
          panel.at(at + j, i) = cell < 0 ? 0.0 : static_cast<double>(x[cell + ic + j]);
      });
    }
  };
  const auto gradient = [&](int64_t k, int64_t depth, int64_t col, int64_t cols, ColPanel panel) {
    for (int64_t i = 0; i < depth; ++i)
      for (int64_t j = 0; j < cols; ++j) panel.at(i, j) = dy[(k + i) * g.out_channels + group.first_out + col + j];
  };
  const auto store = [&](int64_t row, int64_t rows, int64_t col, int64_t cols, ProductBlock block) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) dw[group.FilterOffset(0, row + i) + col + j] = static_cast<T>(block.at(i, j));
  };
  BlockedProduct(group.num_taps() * g.group_in(), g.group_out(), g.batch * g.h.output * g.w.output, workspace, gather,
                 gradient, store);
}

// db[oc] = sum over pixels of dy, in an array of doubles.
template <typename T>
void SumPixels(const ConvGeometry& g, const T* dy, double* sum, T* db) {
  std::fill_n(sum, g.out_channels, 0.0);
  for (int64_t pixel = 0; pixel < g.batch * g.h.output * g.w.output; ++pixel)
    for (int64_t oc = 0; oc < g.out_channels; ++oc) sum[oc] += dy[pixel * g.out_channels + oc];
  for (int64_t oc = 0; oc < g.out_channels; ++oc) db[oc] = static_cast<T>(sum[oc]);
}

// The geometry of a request; kernels see NHWC only, by an earlier pass of the compiler.
ConvGeometry GeometryOf(const KernelRequest& request, const Shape& x, const Shape& filter) {
  const auto& attrs = request.attr<ConvAttrs>();
  MUSTER_CHECK(attrs.data_format == DataFormat::kNHWC);
  return Conv2DGeometry(x, filter, attrs);
}

template <typename T>
PreparedKernel PrepareForward(const KernelRequest& request, const DeviceCaps&) {
  const auto& attrs = request.attr<ConvAttrs>();
  const bool fused = request.kind == OpKind::k_FusedConv2D;
  auto launch = [g = GeometryOf(request, request.in(0), request.in(1)), fused,
                 activation = fused ? attrs.activation : Activation::kNone](const LaunchArgs& args) {
    ForEachGroup(g, [&](const Group& group) {
      ConvForward(group, args.in<T>(0), args.in<T>(1), fused ? args.in<T>(2) : nullptr, activation, args.workspace,
                  args.out<T>(0));
    });
  };
  return {MakeKernel(std::move(launch)), kProductWorkspaceBytes, {}};
}

template <typename T>
PreparedKernel PrepareBackpropInput(const KernelRequest& request, const DeviceCaps&) {
  const ConvGeometry g = GeometryOf(request, request.out(0), request.in(0));
  auto launch = [g, rows = PhasesOf(g.h), cols = PhasesOf(g.w)](const LaunchArgs& args) {
    ForEachGroup(g, [&](const Group& group) {
      for (const Phase& row : rows)
        for (const Phase& col : cols)
          ConvBackpropInput(group, row, col, args.in<T>(0), args.in<T>(1), args.workspace, args.out<T>(0));
    });
  };
  return {MakeKernel(std::move(launch)), kProductWorkspaceBytes, {}};
}

template <typename T>
PreparedKernel PrepareBackpropFilter(const KernelRequest& request, const DeviceCaps&) {
  const ConvGeometry g = GeometryOf(request, request.in(0), request.out(0));
  const bool fused = request.kind == OpKind::k_FusedConv2DBackpropFilter;
  auto launch = [g, fused](const LaunchArgs& args) {
    const T *x = args.in<T>(0), *dy = args.in<T>(1);
    if (args.outputs[0] != nullptr)
      ForEachGroup(g, [&](const Group& group) { ConvBackpropFilter(group, x, dy, args.workspace, args.out<T>(0)); });
    if (fused && args.outputs[1] != nullptr) SumPixels(g, dy, static_cast<double*>(args.workspace), args.out<T>(1));
  };
  return {
      MakeKernel(launch), std::max(kProductWorkspaceBytes, g.out_channels * static_cast<int64_t>(sizeof(double))), {}};
}

}  // namespace

std::vector<KernelRow> ReferenceConvRows() {
  return {
      {OpKind::kConv2D, DType::kFloat32, PrepareForward<float>},
      {OpKind::kConv2D, DType::kFloat64, PrepareForward<double>},
      {OpKind::k_FusedConv2D, DType::kFloat32, PrepareForward<float>},
      {OpKind::k_FusedConv2D, DType::kFloat64, PrepareForward<double>},
      {OpKind::kConv2DBackpropInput, DType::kFloat32, PrepareBackpropInput<float>},
      {OpKind::kConv2DBackpropInput, DType::kFloat64, PrepareBackpropInput<double>},
      {OpKind::kConv2DBackpropFilter, DType::kFloat32, PrepareBackpropFilter<float>},
      {OpKind::kConv2DBackpropFilter, DType::kFloat64, PrepareBackpropFilter<double>},
      {OpKind::k_FusedConv2DBackpropFilter, DType::kFloat32, PrepareBackpropFilter<float>},
      {OpKind::k_FusedConv2DBackpropFilter, DType::kFloat64, PrepareBackpropFilter<double>},
  };
}

}  // namespace muster
