// FusedBatchNorm, its gradient, and both with activation and side input fused (_FusedBatchNormEx,
// _FusedBatchNormGradEx). NHWC: a tensor is a matrix [rows, channels].
//   forward   y = act((x - m) * s * scale + offset [+ side]), s = 1/sqrt(v + epsilon)
//             training: m, v over the rows, v with 1/n; batch_variance is v*n/(n-1). Inference: m, v are given.
//   gradient  g = dy, or dy where y > 0 with relu. xhat = (x - m)*s. doffset = sum(g), dscale = sum(g*xhat).
//             training: dx = scale*s*(g - mean(g) - xhat*mean(g*xhat)). Inference: dx = scale*s*g. dside = g.
// Source of the formulas: Ioffe & Szegedy 2015; tensorflow/core/kernels/fused_batch_norm_op.
#include <algorithm>
#include <cmath>

#include "backend/reference/reference_rows.h"
#include "base/check.h"

namespace muster {
namespace {

struct BatchNorm {
  BatchNormAttrs attrs;
  int64_t rows = 0, channels = 0;
};

BatchNorm Describe(const KernelRequest& request, const Shape& x) {
  BatchNorm bn{request.attr<BatchNormAttrs>(), 0, x[x.rank() - 1]};
  MUSTER_CHECK(bn.attrs.data_format == DataFormat::kNHWC);
  bn.rows = bn.channels == 0 ? 0 : x.num_elements() / bn.channels;
  // The plain kinds have neither; their nodes may still carry the fields.
  if (request.kind == OpKind::kFusedBatchNorm || request.kind == OpKind::kFusedBatchNormGrad) {
    bn.attrs.activation = Activation::kNone;
    bn.attrs.has_side_input = false;
  }
  return bn;
}

// mean[c] and variance[c] (with 1/n) over the rows, in two passes.
template <typename T>
void Moments(const BatchNorm& bn, const T* x, double* mean, double* variance) {
  const double n = static_cast<double>(bn.rows);
  std::fill_n(mean, bn.channels, 0.0);
  std::fill_n(variance, bn.channels, 0.0);
  for (int64_t i = 0; i < bn.rows; ++i)
    for (int64_t c = 0; c < bn.channels; ++c) mean[c] += x[i * bn.channels + c];
  for (int64_t c = 0; c < bn.channels; ++c) mean[c] /= n;
  for (int64_t i = 0; i < bn.rows; ++i)
    for (int64_t c = 0; c < bn.channels; ++c) {
      const double d = x[i * bn.channels + c] - mean[c];
      variance[c] += d * d;
    }
  for (int64_t c = 0; c < bn.channels; ++c) variance[c] /= n;
}

template <typename T>
void Put(T* out, int64_t c, double value) {
  if (out != nullptr) out[c] = static_cast<T>(value);
}

// Outputs 1 to 4; leaves 1/sqrt(variance + epsilon) in "variance". What is kept is what the forward pass uses, to the
// bit, so that the backward pass may compute its output again.
template <typename T>
void StoreStatistics(const BatchNorm& bn, const LaunchArgs& args, double* mean, double* variance) {
  const double n = static_cast<double>(bn.rows);
  const double bessel = bn.attrs.is_training ? n / std::max(n - 1, 1.0) : 1.0;
  for (int64_t c = 0; c < bn.channels; ++c) {
    const double inv_std = 1 / std::sqrt(variance[c] + bn.attrs.epsilon);
    Put(args.out<T>(1), c, mean[c]);
    Put(args.out<T>(2), c, variance[c] * bessel);
    Put(args.out<T>(3), c, mean[c]);
    Put(args.out<T>(4), c, inv_std);
    mean[c] = static_cast<T>(mean[c]);
    variance[c] = static_cast<T>(inv_std);
  }
}

// The normalised value before side input and activation.
template <typename T>
double Normalised(T x, double mean, double inv_std, T scale, T offset) {
  return (x - mean) * inv_std * scale + offset;
}

// "is_redone": y alone is wanted, and inputs 3 and 4 are the statistics that an earlier run reserved.
template <typename T>
void Forward(const BatchNorm& bn, bool has_side, bool is_redone, const LaunchArgs& args) {
  const T *x = args.in<T>(0), *scale = args.in<T>(1), *offset = args.in<T>(2);
  const T* side = has_side ? args.in<T>(5) : nullptr;
  double* mean = static_cast<double*>(args.workspace);
  double* inv_std = mean + bn.channels;
  if (bn.attrs.is_training && !is_redone) {
    Moments(bn, x, mean, inv_std);
  } else {
    std::copy_n(args.in<T>(3), bn.channels, mean);
    std::copy_n(args.in<T>(4), bn.channels, inv_std);
  }
  if (!is_redone) StoreStatistics<T>(bn, args, mean, inv_std);
  T* y = args.out<T>(0);
  if (y == nullptr) return;
  for (int64_t i = 0; i < bn.rows; ++i)
    for (int64_t c = 0; c < bn.channels; ++c) {
      const int64_t at = i * bn.channels + c;
      double value = Normalised(x[at], mean[c], inv_std[c], scale[c], offset[c]);
      if (side != nullptr) value += side[at];
      if (bn.attrs.activation == Activation::kRelu && value < 0) value = 0;
      y[at] = static_cast<T>(value);
    }
}

template <typename T>
void Backward(const BatchNorm& bn, bool has_two, const LaunchArgs& args) {
  const T *dy = args.in<T>(0), *x = args.in<T>(1), *scale = args.in<T>(2), *mean = args.in<T>(3),
          *inv_std = args.in<T>(4);
  const T* dy2 = has_two ? args.in<T>(7) : nullptr;
  // With a side input the output tells where ReLU let values through; else it follows from x, and input 6 is not read.
  const bool has_relu = bn.attrs.activation == Activation::kRelu;
  const T* y = has_relu && bn.attrs.has_side_input ? args.in<T>(6) : nullptr;
  const T* offset = has_relu && y == nullptr ? args.in<T>(5) : nullptr;
  const auto masked = [&](int64_t at) {
    bool passes = true;
    if (y != nullptr) passes = y[at] > 0;
    if (const int64_t c = at % bn.channels; offset != nullptr)
      passes = static_cast<T>(Normalised(x[at], static_cast<double>(mean[c]), static_cast<double>(inv_std[c]), scale[c],
                                         offset[c])) > 0;
    return passes ? static_cast<double>(dy[at]) + (dy2 == nullptr ? 0.0 : static_cast<double>(dy2[at])) : 0.0;
  };
  double* doffset = static_cast<double*>(args.workspace);
  double* dscale = doffset + bn.channels;
  std::fill_n(doffset, 2 * bn.channels, 0.0);
  for (int64_t i = 0; i < bn.rows; ++i)
    for (int64_t c = 0; c < bn.channels; ++c) {
      const int64_t at = i * bn.channels + c;
      doffset[c] += masked(at);
      dscale[c] += masked(at) * (static_cast<double>(x[at]) - mean[c]) * inv_std[c];
    }
  for (int64_t c = 0; c < bn.channels; ++c) {
    Put(args.out<T>(1), c, dscale[c]);
    Put(args.out<T>(2), c, doffset[c]);
  }
  T* dx = args.out<T>(0);
  T* dside = bn.attrs.has_side_input ? args.out<T>(3) : nullptr;
  const double share = bn.attrs.is_training ? 1 / static_cast<double>(bn.rows) : 0.0;
  for (int64_t i = 0; i < bn.rows; ++i)
    for (int64_t c = 0; c < bn.channels; ++c) {
      const int64_t at = i * bn.channels + c;
      const double xhat = (static_cast<double>(x[at]) - mean[c]) * inv_std[c];
      const double g = masked(at);
      Put(dx, at, scale[c] * static_cast<double>(inv_std[c]) * (g - share * doffset[c] - xhat * share * dscale[c]));
      Put(dside, at, g);
    }
}

int64_t WorkspaceBytes(const BatchNorm& bn) { return 2 * bn.channels * static_cast<int64_t>(sizeof(double)); }

template <typename T>
PreparedKernel PrepareForward(const KernelRequest& request, const DeviceCaps&) {
  const BatchNorm bn = Describe(request, request.in(0));
  const bool has_side = request.inputs.size() == 6, is_redone = request.outputs.size() == 1;
  return {
      MakeKernel([=](const LaunchArgs& args) { Forward<T>(bn, has_side, is_redone, args); }), WorkspaceBytes(bn), {}};
}

template <typename T>
PreparedKernel PrepareBackward(const KernelRequest& request, const DeviceCaps&) {
  const BatchNorm bn = Describe(request, request.in(1));
  const bool has_two = request.inputs.size() > 7;
  return {MakeKernel([=](const LaunchArgs& args) { Backward<T>(bn, has_two, args); }), WorkspaceBytes(bn), {}};
}

}  // namespace

std::vector<KernelRow> ReferenceBatchNormRows() {
  return {
      {OpKind::kFusedBatchNorm, DType::kFloat32, PrepareForward<float>},
      {OpKind::kFusedBatchNorm, DType::kFloat64, PrepareForward<double>},
      {OpKind::k_FusedBatchNormEx, DType::kFloat32, PrepareForward<float>},
      {OpKind::k_FusedBatchNormEx, DType::kFloat64, PrepareForward<double>},
      {OpKind::kFusedBatchNormGrad, DType::kFloat32, PrepareBackward<float>},
      {OpKind::kFusedBatchNormGrad, DType::kFloat64, PrepareBackward<double>},
      {OpKind::k_FusedBatchNormGradEx, DType::kFloat32, PrepareBackward<float>},
      {OpKind::k_FusedBatchNormGradEx, DType::kFloat64, PrepareBackward<double>},
  };
}

}  // namespace muster
