// DepthwiseConv2dNative and its gradients, NHWC: output channel c*multiplier + m sees input channel c alone. Each works
// on one row of channels at a time, summed in double in the workspace.
#include <algorithm>

#include "backend/reference/reference_rows.h"
#include "base/check.h"
#include "graph/ops/window.h"

namespace muster {
namespace {

struct Depthwise {
  ConvGeometry g;
  int64_t multiplier() const { return g.group_out(); }
  // The first channel of a cell or pixel.
  int64_t InputOffset(int64_t n, int64_t y, int64_t x) const {
    return ((n * g.h.input + y) * g.w.input + x) * g.in_channels;
  }
  int64_t OutputOffset(int64_t n, int64_t y, int64_t x) const {
    return ((n * g.h.output + y) * g.w.output + x) * g.out_channels;
  }
  int64_t TapOffset(int64_t kh, int64_t kw) const { return (kh * g.w.size + kw) * g.out_channels; }
};

bool Inside(int64_t i, int64_t size) { return i >= 0 && i < size; }

template <typename T>
void Forward(const Depthwise& d, const T* x, const T* w, double* sum, T* y) {
  const auto& g = d.g;
  const int64_t multiplier = d.multiplier();
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t oy = 0; oy < g.h.output; ++oy)
      for (int64_t ox = 0; ox < g.w.output; ++ox) {
        std::fill_n(sum, g.out_channels, 0.0);
        for (int64_t kh = 0; kh < g.h.size; ++kh)
          for (int64_t kw = 0; kw < g.w.size; ++kw) {
            const int64_t iy = g.h.Cell(oy, kh), ix = g.w.Cell(ox, kw);
            if (!Inside(iy, g.h.input) || !Inside(ix, g.w.input)) continue;
            const T *cell = x + d.InputOffset(n, iy, ix), *tap = w + d.TapOffset(kh, kw);
            for (int64_t c = 0; c < g.in_channels; ++c)
              for (int64_t m = 0; m < multiplier; ++m)
                sum[c * multiplier + m] += static_cast<double>(cell[c]) * tap[c * multiplier + m];
          }
        T* pixel = y + d.OutputOffset(n, oy, ox);
        for (int64_t c = 0; c < g.out_channels; ++c) pixel[c] = static_cast<T>(sum[c]);
      }
}

// The output position along one axis of which "tap" lies on "cell", or -1.
int64_t PixelUnder(const WindowAxis& axis, int64_t cell, int64_t tap) {
  const int64_t start = cell + axis.pad_before - tap * axis.dilation;
  return start < 0 || start % axis.stride != 0 || start / axis.stride >= axis.output ? -1 : start / axis.stride;
}

template <typename T>
void BackpropInput(const Depthwise& d, const T* w, const T* dy, double* sum, T* dx) {
  const auto& g = d.g;
  const int64_t multiplier = d.multiplier();
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t iy = 0; iy < g.h.input; ++iy)
      for (int64_t ix = 0; ix < g.w.input; ++ix) {
        std::fill_n(sum, g.in_channels, 0.0);
        for (int64_t kh = 0; kh < g.h.size; ++kh)
          for (int64_t kw = 0; kw < g.w.size; ++kw) {
            const int64_t oy = PixelUnder(g.h, iy, kh), ox = PixelUnder(g.w, ix, kw);
            if (oy < 0 || ox < 0) continue;
            const T *pixel = dy + d.OutputOffset(n, oy, ox), *tap = w + d.TapOffset(kh, kw);
            for (int64_t c = 0; c < g.in_channels; ++c)
              for (int64_t m = 0; m < multiplier; ++m)
                sum[c] += static_cast<double>(pixel[c * multiplier + m]) * tap[c * multiplier + m];
          }
        T* cell = dx + d.InputOffset(n, iy, ix);
        for (int64_t c = 0; c < g.in_channels; ++c) cell[c] = static_cast<T>(sum[c]);
      }
}

template <typename T>
void BackpropFilter(const Depthwise& d, const T* x, const T* dy, double* sum, T* dw) {
  const auto& g = d.g;
  const int64_t multiplier = d.multiplier();
  for (int64_t kh = 0; kh < g.h.size; ++kh)
    for (int64_t kw = 0; kw < g.w.size; ++kw) {
      std::fill_n(sum, g.out_channels, 0.0);
      for (int64_t n = 0; n < g.batch; ++n)
        for (int64_t oy = 0; oy < g.h.output; ++oy)
          for (int64_t ox = 0; ox < g.w.output; ++ox) {
            const int64_t iy = g.h.Cell(oy, kh), ix = g.w.Cell(ox, kw);
            if (!Inside(iy, g.h.input) || !Inside(ix, g.w.input)) continue;
            const T *cell = x + d.InputOffset(n, iy, ix), *pixel = dy + d.OutputOffset(n, oy, ox);
            for (int64_t c = 0; c < g.in_channels; ++c)
              for (int64_t m = 0; m < multiplier; ++m)
                sum[c * multiplier + m] += static_cast<double>(cell[c]) * pixel[c * multiplier + m];
          }
      T* tap = dw + d.TapOffset(kh, kw);
      for (int64_t c = 0; c < g.out_channels; ++c) tap[c] = static_cast<T>(sum[c]);
    }
}

// Kernels see NHWC only, by an earlier pass of the compiler.
Depthwise Describe(const KernelRequest& request, const Shape& x, const Shape& filter) {
  const auto& attrs = request.attr<ConvAttrs>();
  MUSTER_CHECK(attrs.data_format == DataFormat::kNHWC);
  return {DepthwiseGeometry(x, filter, attrs)};
}

PreparedKernel WithSums(const ConvGeometry& g, std::unique_ptr<Kernel> kernel) {
  return {std::move(kernel), std::max(g.in_channels, g.out_channels) * static_cast<int64_t>(sizeof(double)), {}};
}

template <typename T>
PreparedKernel PrepareForward(const KernelRequest& request, const DeviceCaps&) {
  const Depthwise d = Describe(request, request.in(0), request.in(1));
  return WithSums(d.g, MakeKernel([d](const LaunchArgs& args) {
                    Forward(d, args.in<T>(0), args.in<T>(1), static_cast<double*>(args.workspace), args.out<T>(0));
                  }));
}

template <typename T>
PreparedKernel PrepareBackpropInput(const KernelRequest& request, const DeviceCaps&) {
  const Depthwise d = Describe(request, request.out(0), request.in(0));
  return WithSums(d.g, MakeKernel([d](const LaunchArgs& args) {
                    BackpropInput(d, args.in<T>(0), args.in<T>(1), static_cast<double*>(args.workspace),
                                  args.out<T>(0));
                  }));
}

template <typename T>
PreparedKernel PrepareBackpropFilter(const KernelRequest& request, const DeviceCaps&) {
  const Depthwise d = Describe(request, request.in(0), request.out(0));
  return WithSums(d.g, MakeKernel([d](const LaunchArgs& args) {
                    BackpropFilter(d, args.in<T>(0), args.in<T>(1), static_cast<double*>(args.workspace),
                                   args.out<T>(0));
                  }));
}

}  // namespace

std::vector<KernelRow> ReferenceDepthwiseRows() {
  return {
      {OpKind::kDepthwiseConv2dNative, DType::kFloat32, PrepareForward<float>},
      {OpKind::kDepthwiseConv2dNative, DType::kFloat64, PrepareForward<double>},
      {OpKind::kDepthwiseConv2dNativeBackpropInput, DType::kFloat32, PrepareBackpropInput<float>},
      {OpKind::kDepthwiseConv2dNativeBackpropInput, DType::kFloat64, PrepareBackpropInput<double>},
      {OpKind::kDepthwiseConv2dNativeBackpropFilter, DType::kFloat32, PrepareBackpropFilter<float>},
      {OpKind::kDepthwiseConv2dNativeBackpropFilter, DType::kFloat64, PrepareBackpropFilter<double>},
  };
}

}  // namespace muster
