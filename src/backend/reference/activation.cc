// Activations and their gradients; float32 is computed in float64 and rounded once.

#include <cmath>

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"

namespace muster {
namespace {

using namespace reference;

// NaN passes through.
struct Relu {
  double operator()(double x) const { return x < 0 ? 0 : x; }
};
struct Relu6 {
  double operator()(double x) const { return x < 0 ? 0 : x > 6 ? 6 : x; }
};
// Exponents of negative numbers only, so that nothing overflows.
struct Sigmoid {
  double operator()(double x) const { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
};
struct Tanh {
  double operator()(double x) const { return std::tanh(x); }
};
struct Softplus {
  double operator()(double x) const { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::abs(x))); }
};

// In TensorFlow's order of inputs.
struct ReluGrad {
  double operator()(double dy, double x) const { return x > 0 ? dy : 0; }
};
struct Relu6Grad {
  double operator()(double dy, double x) const { return x > 0 && x < 6 ? dy : 0; }
};
struct SigmoidGrad {
  double operator()(double y, double dy) const { return dy * y * (1 - y); }
};
struct TanhGrad {
  double operator()(double y, double dy) const { return dy * (1 - y * y); }
};
struct SoftplusGrad {
  double operator()(double dy, double x) const { return dy * Sigmoid()(x); }
};

template <typename Op>
struct UnaryKernel {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const int64_t count = request.out(0).num_elements();
    auto launch = [=](const LaunchArgs& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      for (int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(Op()(static_cast<double>(x[i])));
    };
    return {MakeKernel(launch), 0, {{0, 0}}};
  }
};

template <typename Op>
struct GradKernel {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const int64_t count = request.out(0).num_elements();
    auto launch = [=](const LaunchArgs& args) {
      const T* a = args.in<T>(0);
      const T* b = args.in<T>(1);
      T* dx = args.out<T>(0);
      for (int64_t i = 0; i < count; ++i) dx[i] = static_cast<T>(Op()(a[i], b[i]));
    };
    return {MakeKernel(launch), 0, {{0, 0}, {0, 1}}};
  }
};

}  // namespace

std::vector<KernelRow> ReferenceActivationRows() {
  std::vector<KernelRow> rows;
  AddRows<UnaryKernel<Relu>, float, double, int32_t>(rows, OpKind::kRelu);
  AddRows<UnaryKernel<Relu6>, float, double, int32_t>(rows, OpKind::kRelu6);
  AddRows<UnaryKernel<Sigmoid>, float, double>(rows, OpKind::kSigmoid);
  AddRows<UnaryKernel<Tanh>, float, double>(rows, OpKind::kTanh);
  AddRows<UnaryKernel<Softplus>, float, double>(rows, OpKind::kSoftplus);
  AddRows<GradKernel<ReluGrad>, float, double>(rows, OpKind::kReluGrad);
  AddRows<GradKernel<Relu6Grad>, float, double>(rows, OpKind::kRelu6Grad);
  AddRows<GradKernel<SigmoidGrad>, float, double>(rows, OpKind::kSigmoidGrad);
  AddRows<GradKernel<TanhGrad>, float, double>(rows, OpKind::kTanhGrad);
  AddRows<GradKernel<SoftplusGrad>, float, double>(rows, OpKind::kSoftplusGrad);
  return rows;
}

}  // namespace muster
