// Gradient descent, with momentum, and the proximal one: one update operation of TensorFlow each.

#include "muster/ops/training.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

class GradientDescent : public Optimizer {
 public:
  explicit GradientDescent(LearningRate rate) : Optimizer("GradientDescent", rate) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    return ops::ApplyGradientDescent(step.ScopeOf(variable), variable, step.Rate(step.dtype(variable)), gradient);
  }
};

class Momentum : public Optimizer {
 public:
  Momentum(LearningRate rate, double momentum, bool use_nesterov)
      : Optimizer("Momentum", rate), momentum_(momentum), use_nesterov_(use_nesterov) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Variable accumulator = step.ZeroSlot(variable, "momentum");
    return ops::ApplyMomentum(step.ScopeOf(variable), variable, accumulator, step.Rate(dtype), gradient,
                              step.Constant("momentum", momentum_, dtype), use_nesterov_);
  }

 private:
  double momentum_;
  bool use_nesterov_;
};

class ProximalGradientDescent : public Optimizer {
 public:
  ProximalGradientDescent(LearningRate rate, double l1, double l2)
      : Optimizer("ProximalGradientDescent", rate), l1_(l1), l2_(l2) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    return ops::ApplyProximalGradientDescent(step.ScopeOf(variable), variable, step.Rate(dtype),
                                             step.Constant("l1", l1_, dtype), step.Constant("l2", l2_, dtype),
                                             gradient);
  }

 private:
  double l1_, l2_;
};

}  // namespace

std::unique_ptr<Optimizer> GradientDescentOptimizer(LearningRate rate) {
  return std::make_unique<GradientDescent>(rate);
}

std::unique_ptr<Optimizer> MomentumOptimizer(LearningRate rate, double momentum, bool use_nesterov) {
  return std::make_unique<Momentum>(rate, momentum, use_nesterov);
}

std::unique_ptr<Optimizer> ProximalGradientDescentOptimizer(LearningRate rate, double l1, double l2) {
  return std::make_unique<ProximalGradientDescent>(rate, l1, l2);
}

}  // namespace muster
