// The update operations: element by element over everything the variable's memory holds, the padding of an opaque
// layout included (variable, slots and gradient then share that layout, and padding stays zero). Every step is rounded
// to T, as TensorFlow's kernels do it. Formulas: tests/data/golden/optimizers.json and
// tensorflow/core/kernels/training_ops.
#include <algorithm>
#include <cmath>

#include "backend/reference/reference_rows.h"

namespace muster {
namespace {

// The gradient that a rule sees: with weight decay, decay * var on top of what was computed.
template <typename T>
struct Gradient {
  const T* grad;
  const T* var;
  T decay;

  T operator[](int64_t i) const { return decay == 0 ? grad[i] : grad[i] + decay * var[i]; }
};

// One launch: refs, gradient and scalars by input number.
template <typename T>
struct Update {
  const LaunchArgs& args;
  int64_t count;
  bool use_nesterov;
  int weight_decay_input;  // -1: none

  T* ref(int i) const { return args.ref<T>(i); }
  Gradient<T> gradient(int i) const {
    return {args.in<T>(i), args.in<T>(0), weight_decay_input < 0 ? T{0} : scalar(weight_decay_input)};
  }
  T scalar(int i) const { return *args.in<T>(i); }
};

// a/b, and 0 where a is 0 whatever b is: slots are zero in the padding, and 0/sqrt(0) would spoil it.
template <typename T>
T Ratio(T a, T b) {
  return a == 0 ? T{0} : a / b;
}
template <typename T>
T Squared(T x) {
  return x * x;
}

template <typename T>
void GradientDescent(const Update<T>& u) {
  T* var = u.ref(0);
  const T alpha = u.scalar(1);
  const Gradient<T> delta = u.gradient(2);
  for (int64_t i = 0; i < u.count; ++i) var[i] = var[i] - alpha * delta[i];
}

template <typename T>
void Momentum(const Update<T>& u) {
  T *var = u.ref(0), *accum = u.ref(1);
  const T lr = u.scalar(2), momentum = u.scalar(4);
  const Gradient<T> grad = u.gradient(3);
  for (int64_t i = 0; i < u.count; ++i) {
    const T a = accum[i] * momentum + grad[i];
    accum[i] = a;
    var[i] = var[i] - lr * (u.use_nesterov ? grad[i] + momentum * a : a);
  }
}

template <typename T>
void RMSProp(const Update<T>& u) {
  T *var = u.ref(0), *ms = u.ref(1), *mom = u.ref(2);
  const T lr = u.scalar(3), rho = u.scalar(4), momentum = u.scalar(5), epsilon = u.scalar(6);
  const Gradient<T> grad = u.gradient(7);
  for (int64_t i = 0; i < u.count; ++i) {
    const T s = ms[i] + (Squared(grad[i]) - ms[i]) * (1 - rho);
    const T m = momentum * mom[i] + Ratio(lr * grad[i], std::sqrt(s + epsilon));
    ms[i] = s;
    mom[i] = m;
    var[i] = var[i] - m;
  }
}

template <typename T>
void CenteredRMSProp(const Update<T>& u) {
  T *var = u.ref(0), *mg = u.ref(1), *ms = u.ref(2), *mom = u.ref(3);
  const T lr = u.scalar(4), rho = u.scalar(5), momentum = u.scalar(6), epsilon = u.scalar(7);
  const Gradient<T> grad = u.gradient(8);
  for (int64_t i = 0; i < u.count; ++i) {
    const T s = ms[i] + (Squared(grad[i]) - ms[i]) * (1 - rho);
    const T r = mg[i] + (grad[i] - mg[i]) * (1 - rho);
    const T m = momentum * mom[i] + Ratio(lr * grad[i], std::sqrt(s - r * r + epsilon));
    ms[i] = s;
    mg[i] = r;
    mom[i] = m;
    var[i] = var[i] - m;
  }
}

template <typename T>
void Adam(const Update<T>& u) {
  T *var = u.ref(0), *m = u.ref(1), *v = u.ref(2);
  const T beta1_power = u.scalar(3), beta2_power = u.scalar(4), lr = u.scalar(5);
  const T beta1 = u.scalar(6), beta2 = u.scalar(7), epsilon = u.scalar(8);
  const Gradient<T> grad = u.gradient(9);
  const T alpha = lr * std::sqrt(1 - beta2_power) / (1 - beta1_power);
  for (int64_t i = 0; i < u.count; ++i) {
    const T first = m[i] + (grad[i] - m[i]) * (1 - beta1);
    const T second = v[i] + (Squared(grad[i]) - v[i]) * (1 - beta2);
    const T ahead = u.use_nesterov ? grad[i] * (1 - beta1) + beta1 * first : first;
    m[i] = first;
    v[i] = second;
    var[i] = var[i] - Ratio(alpha * ahead, std::sqrt(second) + epsilon);
  }
}

template <typename T>
void AdaMax(const Update<T>& u) {
  T *var = u.ref(0), *m = u.ref(1), *v = u.ref(2);
  const T beta1_power = u.scalar(3), lr = u.scalar(4), beta1 = u.scalar(5), beta2 = u.scalar(6), epsilon = u.scalar(7);
  const Gradient<T> grad = u.gradient(8);
  for (int64_t i = 0; i < u.count; ++i) {
    const T first = m[i] + (grad[i] - m[i]) * (1 - beta1);
    const T norm = std::max(beta2 * v[i], std::abs(grad[i]));
    m[i] = first;
    v[i] = norm;
    var[i] = var[i] - Ratio(lr / (1 - beta1_power) * first, norm + epsilon);
  }
}

template <typename T>
void Adagrad(const Update<T>& u) {
  T *var = u.ref(0), *accum = u.ref(1);
  const T lr = u.scalar(2);
  const Gradient<T> grad = u.gradient(3);
  for (int64_t i = 0; i < u.count; ++i) {
    const T a = accum[i] + Squared(grad[i]);
    accum[i] = a;
    var[i] = var[i] - Ratio(lr * grad[i], std::sqrt(a));
  }
}

template <typename T>
void Adadelta(const Update<T>& u) {
  T *var = u.ref(0), *accum = u.ref(1), *accum_update = u.ref(2);
  const T lr = u.scalar(3), rho = u.scalar(4), epsilon = u.scalar(5);
  const Gradient<T> grad = u.gradient(6);
  for (int64_t i = 0; i < u.count; ++i) {
    const T a = rho * accum[i] + (1 - rho) * Squared(grad[i]);
    const T update = Ratio(std::sqrt(accum_update[i] + epsilon) * grad[i], std::sqrt(a + epsilon));
    accum[i] = a;
    accum_update[i] = rho * accum_update[i] + (1 - rho) * Squared(update);
    var[i] = var[i] - lr * update;
  }
}

template <typename T>
void Ftrl(const Update<T>& u) {
  T *var = u.ref(0), *accum = u.ref(1), *linear = u.ref(2);
  const Gradient<T> grad = u.gradient(3);
  const T lr = u.scalar(4), l1 = u.scalar(5), l2 = u.scalar(6), lr_power = u.scalar(7);
  for (int64_t i = 0; i < u.count; ++i) {
    const T before = std::pow(accum[i], -lr_power);
    const T now = accum[i] + Squared(grad[i]);
    const T after = std::pow(now, -lr_power);
    const T z = linear[i] + grad[i] - (after - before) / lr * var[i];
    accum[i] = now;
    linear[i] = z;
    var[i] = std::abs(z) > l1 ? (std::copysign(l1, z) - z) / (after / lr + 2 * l2) : T{0};
  }
}

template <typename T>
void ProximalGradientDescent(const Update<T>& u) {
  T* var = u.ref(0);
  const T alpha = u.scalar(1), l1 = u.scalar(2), l2 = u.scalar(3);
  const Gradient<T> delta = u.gradient(4);
  for (int64_t i = 0; i < u.count; ++i) {
    const T moved = var[i] - alpha * delta[i];
    const T shrunk = l1 > 0 ? std::copysign(std::max(std::abs(moved) - alpha * l1, T{0}), moved) : moved;
    var[i] = shrunk / (1 + alpha * l2);
  }
}

template <typename T, void (*update)(const Update<T>&)>
PreparedKernel PrepareApply(const KernelRequest& request, const DeviceCaps&) {
  const int64_t count = request.inputs[0].byte_size() / static_cast<int64_t>(sizeof(T));
  const ApplyAttrs& attrs = request.attr<ApplyAttrs>();
  const bool use_nesterov = attrs.use_nesterov;
  const int decay = attrs.has_weight_decay ? static_cast<int>(request.inputs.size()) - 1 : -1;
  return {MakeKernel([=](const LaunchArgs& args) { update(Update<T>{args, count, use_nesterov, decay}); }), 0, {}};
}

template <typename T>
std::vector<KernelRow> RowsFor(DType dtype) {
  return {
      {OpKind::kApplyGradientDescent, dtype, PrepareApply<T, GradientDescent<T>>},
      {OpKind::kApplyMomentum, dtype, PrepareApply<T, Momentum<T>>},
      {OpKind::kApplyRMSProp, dtype, PrepareApply<T, RMSProp<T>>},
      {OpKind::kApplyCenteredRMSProp, dtype, PrepareApply<T, CenteredRMSProp<T>>},
      {OpKind::kApplyAdam, dtype, PrepareApply<T, Adam<T>>},
      {OpKind::kApplyAdaMax, dtype, PrepareApply<T, AdaMax<T>>},
      {OpKind::kApplyAdagrad, dtype, PrepareApply<T, Adagrad<T>>},
      {OpKind::kApplyAdadelta, dtype, PrepareApply<T, Adadelta<T>>},
      {OpKind::kApplyFtrl, dtype, PrepareApply<T, Ftrl<T>>},
      {OpKind::kApplyProximalGradientDescent, dtype, PrepareApply<T, ProximalGradientDescent<T>>},
  };
}

}  // namespace

std::vector<KernelRow> ReferenceApplyRows() {
  std::vector<KernelRow> rows = RowsFor<float>(DType::kFloat32);
  for (const KernelRow& row : RowsFor<double>(DType::kFloat64)) rows.push_back(row);
  return rows;
}

}  // namespace muster
