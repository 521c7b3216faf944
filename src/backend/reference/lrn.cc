// LRN and LRNGrad, NHWC, with s[c] = bias + alpha * sum of x^2 over channels c-r to c+r:
//   y[c]  = x[c] / s[c]^beta
//   dx[c] = dy[c] / s[c]^beta - 2*alpha*beta * x[c] * sum over c-r to c+r of dy*y/s
// Source: Krizhevsky et al. 2012; tensorflow/core/kernels/lrn_op.
#include <algorithm>
#include <cmath>

#include "backend/reference/reference_rows.h"
#include "base/check.h"

namespace muster {
namespace {

struct Lrn {
  LRNAttrs attrs;
  int64_t rows = 0, channels = 0;

  int64_t first(int64_t c) const { return std::max<int64_t>(c - attrs.depth_radius, 0); }
  int64_t last(int64_t c) const { return std::min<int64_t>(c + attrs.depth_radius, channels - 1); }
};

// s for one row of channels.
template <typename T>
void Scales(const Lrn& lrn, const T* x, double* s) {
  for (int64_t c = 0; c < lrn.channels; ++c) {
    double sum = 0;
    for (int64_t j = lrn.first(c); j <= lrn.last(c); ++j) sum += static_cast<double>(x[j]) * x[j];
    s[c] = lrn.attrs.bias + lrn.attrs.alpha * sum;
  }
}

template <typename T>
void Forward(const Lrn& lrn, const T* x, double* s, T* y) {
  for (int64_t i = 0; i < lrn.rows; ++i, x += lrn.channels, y += lrn.channels) {
    Scales(lrn, x, s);
    for (int64_t c = 0; c < lrn.channels; ++c) y[c] = static_cast<T>(x[c] * std::pow(s[c], -lrn.attrs.beta));
  }
}

template <typename T>
void Backward(const Lrn& lrn, const T* dy, const T* x, const T* y, double* s, T* dx) {
  const auto& a = lrn.attrs;
  for (int64_t i = 0; i < lrn.rows; ++i, dy += lrn.channels, x += lrn.channels, y += lrn.channels, dx += lrn.channels) {
    Scales(lrn, x, s);
    for (int64_t c = 0; c < lrn.channels; ++c) {
      double sum = 0;
      for (int64_t j = lrn.first(c); j <= lrn.last(c); ++j) sum += static_cast<double>(dy[j]) * y[j] / s[j];
      dx[c] = static_cast<T>(dy[c] * std::pow(s[c], -a.beta) - 2 * a.alpha * a.beta * x[c] * sum);
    }
  }
}

Lrn Describe(const KernelRequest& request) {
  const Shape& shape = request.in(0);
  Lrn lrn{request.attr<LRNAttrs>(), 0, shape[shape.rank() - 1]};
  MUSTER_CHECK(lrn.attrs.data_format == DataFormat::kNHWC);
  lrn.rows = lrn.channels == 0 ? 0 : shape.num_elements() / lrn.channels;
  return lrn;
}

template <typename T>
PreparedKernel PrepareForward(const KernelRequest& request, const DeviceCaps&) {
  const Lrn lrn = Describe(request);
  auto launch = [lrn](const LaunchArgs& args) {
    Forward(lrn, args.in<T>(0), static_cast<double*>(args.workspace), args.out<T>(0));
  };
  return {MakeKernel(launch), lrn.channels * static_cast<int64_t>(sizeof(double)), {}};
}

template <typename T>
PreparedKernel PrepareBackward(const KernelRequest& request, const DeviceCaps&) {
  const Lrn lrn = Describe(request);
  auto launch = [lrn](const LaunchArgs& args) {
    Backward(lrn, args.in<T>(0), args.in<T>(1), args.in<T>(2), static_cast<double*>(args.workspace), args.out<T>(0));
  };
  return {MakeKernel(launch), lrn.channels * static_cast<int64_t>(sizeof(double)), {}};
}

}  // namespace

std::vector<KernelRow> ReferenceLrnRows() {
  return {
      {OpKind::kLRN, DType::kFloat32, PrepareForward<float>},
      {OpKind::kLRN, DType::kFloat64, PrepareForward<double>},
      {OpKind::kLRNGrad, DType::kFloat32, PrepareBackward<float>},
      {OpKind::kLRNGrad, DType::kFloat64, PrepareBackward<double>},
  };
}

}  // namespace muster
