// MatMul, _FusedMatMul, BiasAdd, BiasAddGrad.
#include <algorithm>

#include "backend/reference/product.h"
#include "backend/reference/reference_rows.h"
#include "base/check.h"
#include "plan/kernel.h"

namespace muster {
namespace {

using reference::BlockedProduct, reference::ColPanel, reference::kProductWorkspaceBytes, reference::ProductBlock,
    reference::RowPanel;

// A matrix in memory, or its transpose.
template <typename T>
struct Matrix {
  const T* data;
  int64_t row_stride, col_stride;
  T at(int64_t row, int64_t col) const { return data[row * row_stride + col * col_stride]; }
};

template <typename T>
Matrix<T> View(const T* data, int64_t columns_in_memory, bool transposed) {
  return transposed ? Matrix<T>{data, 1, columns_in_memory} : Matrix<T>{data, columns_in_memory, 1};
}

// c = a*b, then + bias (one per column; nullptr: none), then relu if asked for.
template <typename T>
void Multiply(Matrix<T> a, Matrix<T> b, const T* bias, Activation activation, int64_t rows, int64_t cols, int64_t depth,
              void* workspace, T* c) {
  BlockedProduct(
      rows, cols, depth, workspace,
      [=](int64_t row, int64_t rows, int64_t k, int64_t depth, RowPanel panel) {
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < depth; ++j) panel.at(i, j) = a.at(row + i, k + j);
      },
      [=](int64_t k, int64_t depth, int64_t col, int64_t cols, ColPanel panel) {
        for (int64_t i = 0; i < depth; ++i)
          for (int64_t j = 0; j < cols; ++j) panel.at(i, j) = b.at(k + i, col + j);
      },
      [=, total = cols](int64_t row, int64_t rows, int64_t col, int64_t cols, ProductBlock block) {
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < cols; ++j) {
            double value = block.at(i, j) + (bias == nullptr ? 0.0 : static_cast<double>(bias[col + j]));
            if (activation == Activation::kRelu && value < 0) value = 0;
            c[(row + i) * total + col + j] = static_cast<T>(value);
          }
      });
}

template <typename T>
PreparedKernel PrepareMatMul(const KernelRequest& request, const DeviceCaps&) {
  const auto attrs = request.attr<MatMulAttrs>();
  const Shape a = request.in(0), b = request.in(1), c = request.out(0);
  const int64_t depth = a[attrs.transpose_a ? 0 : 1];
  const bool fused = request.kind == OpKind::k_FusedMatMul;
  auto launch = [=](const LaunchArgs& args) {
    Multiply<T>(View(args.in<T>(0), a[1], attrs.transpose_a), View(args.in<T>(1), b[1], attrs.transpose_b),
                fused ? args.in<T>(2) : nullptr, fused ? attrs.activation : Activation::kNone, c[0], c[1], depth,
                args.workspace, args.out<T>(0));
  };
  return {MakeKernel(launch), kProductWorkspaceBytes, {}};
}

// var -= alpha * (x^T dy + decay * var); inputs var, alpha, x, dy[, decay].
template <typename T>
PreparedKernel PrepareMatMulApply(const KernelRequest& request, const DeviceCaps&) {
  const bool decays = request.attr<ApplyAttrs>().has_weight_decay;
  const Shape x = request.in(2), var = request.in(0);
  auto launch = [=](const LaunchArgs& args) {
    T* gradient = reinterpret_cast<T*>(static_cast<char*>(args.workspace) + kProductWorkspaceBytes);
    Multiply<T>(View(args.in<T>(2), x[1], true), View(args.in<T>(3), var[1], false), nullptr, Activation::kNone, var[0],
                var[1], x[0], args.workspace, gradient);
    const T alpha = *args.in<T>(1), decay = decays ? *args.in<T>(4) : T{0};
    for (int64_t i = 0; i < var.num_elements(); ++i)
      args.ref<T>(0)[i] -= alpha * (gradient[i] + decay * args.ref<T>(0)[i]);
  };
  return {MakeKernel(launch), kProductWorkspaceBytes + var.num_elements() * static_cast<int64_t>(sizeof(T)), {}};
}

// A tensor seen as [rows, channels].
struct ChannelRows {
  int64_t rows, channels;
};
ChannelRows RowsOf(const KernelRequest& request) {
  const Shape& shape = request.in(0);
  MUSTER_CHECK(request.attr<BiasAddAttrs>().data_format == DataFormat::kNHWC || shape.rank() == 2);
  const int64_t channels = shape[shape.rank() - 1];
  return {channels == 0 ? 0 : shape.num_elements() / channels, channels};
}

template <typename T>
PreparedKernel PrepareBiasAdd(const KernelRequest& request, const DeviceCaps&) {
  const ChannelRows view = RowsOf(request);
  auto launch = [=](const LaunchArgs& args) {
    const T *x = args.in<T>(0), *bias = args.in<T>(1);
    T* y = args.out<T>(0);
    for (int64_t i = 0; i < view.rows; ++i)
      for (int64_t c = 0; c < view.channels; ++c) y[i * view.channels + c] = x[i * view.channels + c] + bias[c];
  };
  return {MakeKernel(launch), 0, {{0, 0}}};
}

template <typename T>
PreparedKernel PrepareBiasAddGrad(const KernelRequest& request, const DeviceCaps&) {
  const ChannelRows view = RowsOf(request);
  auto launch = [=](const LaunchArgs& args) {
    const T* dy = args.in<T>(0);
    double* sum = static_cast<double*>(args.workspace);
    std::fill_n(sum, view.channels, 0.0);
    for (int64_t i = 0; i < view.rows; ++i)
      for (int64_t c = 0; c < view.channels; ++c) sum[c] += dy[i * view.channels + c];
    for (int64_t c = 0; c < view.channels; ++c) args.out<T>(0)[c] = static_cast<T>(sum[c]);
  };
  return {MakeKernel(launch), view.channels * static_cast<int64_t>(sizeof(double)), {}};
}

}  // namespace

std::vector<KernelRow> ReferenceMatMulRows() {
  return {
      {OpKind::kMatMul, DType::kFloat32, PrepareMatMul<float>},
      {OpKind::kMatMul, DType::kFloat64, PrepareMatMul<double>},
      {OpKind::k_FusedMatMul, DType::kFloat32, PrepareMatMul<float>},
      {OpKind::k_FusedMatMul, DType::kFloat64, PrepareMatMul<double>},
      {OpKind::k_MatMulApplyGradientDescent, DType::kFloat32, PrepareMatMulApply<float>},
      {OpKind::k_MatMulApplyGradientDescent, DType::kFloat64, PrepareMatMulApply<double>},
      {OpKind::kBiasAdd, DType::kFloat32, PrepareBiasAdd<float>},
      {OpKind::kBiasAdd, DType::kFloat64, PrepareBiasAdd<double>},
      {OpKind::kBiasAddGrad, DType::kFloat32, PrepareBiasAddGrad<float>},
      {OpKind::kBiasAddGrad, DType::kFloat64, PrepareBiasAddGrad<double>},
  };
}

}  // namespace muster
