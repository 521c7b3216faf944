// MaxPool and AvgPool with their gradients, NHWC. Every loop walks windows in row-major order with the channels
// innermost.
#include <algorithm>
#include <cmath>

#include "backend/reference/reference_rows.h"
#include "base/check.h"
#include "graph/ops/window.h"

namespace muster {
namespace {

// Calls run(cells, num_cells, pixel) for each window, where cells holds the offsets of the window's real cells in the
// input, row-major, and pixel the offset of its output. "cells" is room for one window.
template <typename F>
void ForEachWindow(const PoolGeometry& g, int64_t* cells, F run) {
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t oy = 0; oy < g.h.output; ++oy)
      for (int64_t ox = 0; ox < g.w.output; ++ox) {
        int64_t count = 0;
        for (int64_t kh = 0; kh < g.h.size; ++kh)
          for (int64_t kw = 0; kw < g.w.size; ++kw) {
            const int64_t y = g.h.Cell(oy, kh), x = g.w.Cell(ox, kw);
            if (y >= 0 && y < g.h.input && x >= 0 && x < g.w.input)
              cells[count++] = ((n * g.h.input + y) * g.w.input + x) * g.channels;
          }
        run(cells, count, ((n * g.h.output + oy) * g.w.output + ox) * g.channels);
      }
}

// A NaN beats every number, so that it reaches the loss.
template <typename T>
bool Beats(T value, T best) {
  return value > best || (std::isnan(value) && !std::isnan(best));
}

template <typename T>
void MaxPool(const PoolGeometry& g, const T* x, int64_t* cells, T* y) {
  ForEachWindow(g, cells, [&](const int64_t* cell, int64_t count, int64_t pixel) {
    for (int64_t c = 0; c < g.channels; ++c) {
      T best = x[cell[0] + c];
      for (int64_t i = 1; i < count; ++i)
        if (Beats(x[cell[i] + c], best)) best = x[cell[i] + c];
      y[pixel + c] = best;
    }
  });
}

// The gradient goes to the first maximum of each window; with "relu" only to maxima that a ReLU in front let through.
template <typename T>
void MaxPoolGrad(const PoolGeometry& g, bool relu, const T* x, const T* dy, int64_t* cells, T* dx) {
  std::fill_n(dx, g.batch * g.h.input * g.w.input * g.channels, T{0});
  ForEachWindow(g, cells, [&](const int64_t* cell, int64_t count, int64_t pixel) {
    for (int64_t c = 0; c < g.channels; ++c) {
      int64_t best = cell[0] + c;
      for (int64_t i = 1; i < count; ++i)
        if (Beats(x[cell[i] + c], x[best])) best = cell[i] + c;
      if (!relu || x[best] > 0) dx[best] += dy[pixel + c];
    }
  });
}

template <typename T>
void AvgPool(const PoolGeometry& g, const T* x, int64_t* cells, T* y) {
  ForEachWindow(g, cells, [&](const int64_t* cell, int64_t count, int64_t pixel) {
    for (int64_t c = 0; c < g.channels; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += x[cell[i] + c];
      y[pixel + c] = static_cast<T>(sum / static_cast<double>(count));
    }
  });
}

template <typename T>
void AvgPoolGrad(const PoolGeometry& g, const T* dy, int64_t* cells, T* dx) {
  std::fill_n(dx, g.batch * g.h.input * g.w.input * g.channels, T{0});
  ForEachWindow(g, cells, [&](const int64_t* cell, int64_t count, int64_t pixel) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t c = 0; c < g.channels; ++c)
        dx[cell[i] + c] += static_cast<T>(static_cast<double>(dy[pixel + c]) / static_cast<double>(count));
  });
}

int64_t CellBytes(const PoolGeometry& g) { return g.h.size * g.w.size * static_cast<int64_t>(sizeof(int64_t)); }

template <typename T>
PreparedKernel PreparePool(const KernelRequest& request, const DeviceCaps&) {
  const auto& attrs = request.attr<PoolAttrs>();
  const OpKind kind = request.kind;
  MUSTER_CHECK(attrs.data_format == DataFormat::kNHWC);
  const PoolGeometry g = PoolGeometryOf(kind == OpKind::kAvgPoolGrad ? request.out(0) : request.in(0), attrs);
  auto launch = [g, kind](const LaunchArgs& args) {
    auto* cells = static_cast<int64_t*>(args.workspace);
    T* out = args.out<T>(0);
    switch (kind) {
      case OpKind::kMaxPool: MaxPool(g, args.in<T>(0), cells, out); break;
      case OpKind::kMaxPoolGrad:
      case OpKind::k_MaxPoolReluGrad:
        MaxPoolGrad(g, kind == OpKind::k_MaxPoolReluGrad, args.in<T>(0), args.in<T>(2), cells, out);
        break;
      case OpKind::kAvgPool: AvgPool(g, args.in<T>(0), cells, out); break;
      default: AvgPoolGrad(g, args.in<T>(0), cells, out);
    }
  };
  return {MakeKernel(launch), CellBytes(g), {}};
}

}  // namespace

std::vector<KernelRow> ReferencePoolRows() {
  std::vector<KernelRow> rows;
  for (OpKind kind :
       {OpKind::kMaxPool, OpKind::kMaxPoolGrad, OpKind::k_MaxPoolReluGrad, OpKind::kAvgPool, OpKind::kAvgPoolGrad}) {
    rows.push_back({kind, DType::kFloat32, PreparePool<float>});
    rows.push_back({kind, DType::kFloat64, PreparePool<double>});
  }
  return rows;
}

}  // namespace muster
