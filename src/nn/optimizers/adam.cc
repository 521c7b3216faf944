// Adam, AdamW and AdaMax: a first and a second moment per variable, and the powers of beta that all share.

#include "muster/losses.h"
#include "muster/ops/math.h"
#include "muster/ops/training.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

class Adam : public Optimizer {
 public:
  Adam(std::string name, LearningRate rate, AdamOptions options) : Optimizer(std::move(name), rate), options_(options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    return Update(step, step.ScopeOf(variable), gradient, variable);
  }

  std::vector<NodeId> Finish(Step& step) override {
    return {Multiply(step, "beta1_power", options_.beta1), Multiply(step, "beta2_power", options_.beta2)};
  }

 protected:
  NodeId Update(Step& step, const Scope& scope, Output gradient, const Variable& variable) {
    const DType dtype = step.dtype(variable);
    const Variable m = step.ZeroSlot(variable, "m");
    const Variable v = step.ZeroSlot(variable, "v");
    const Output beta1_power = step.SharedAs("beta1_power", options_.beta1, dtype);
    const Output beta2_power = step.SharedAs("beta2_power", options_.beta2, dtype);
    return ops::ApplyAdam(scope, variable, m, v, beta1_power, beta2_power, step.Rate(dtype),
                          step.Constant("beta1", options_.beta1, dtype), step.Constant("beta2", options_.beta2, dtype),
                          step.Constant("epsilon", options_.epsilon, dtype), gradient);
  }

  // power := power * beta.
  NodeId Multiply(Step& step, const std::string& power, double beta) {
    const Variable variable = step.Shared(power, beta);
    const Scope scope = step.scope().ColocatedWith(variable.ref.node);
    const Output next = ops::Mul(scope, variable, step.Constant("beta_of_" + power, beta, step.state_dtype()));
    return ops::Assign(scope, variable, next).node;
  }

  const AdamOptions options_;
};

class AdamW : public Adam {
 public:
  AdamW(LearningRate rate, double weight_decay, AdamOptions options)
      : Adam("AdamW", rate, options), weight_decay_(weight_decay) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    Scope scope = step.ScopeOf(variable);
    if (!HasWeightDecay(VariableName(*scope.graph(), variable))) return Update(step, scope, gradient, variable);
    const DType dtype = step.dtype(variable);
    const Output factor = step.Once("decay_rate", dtype, [&] {
      return ops::Mul(step.scope(), step.Rate(dtype), step.Constant("weight_decay", weight_decay_, dtype));
    });
    // The gradient belongs to the weights before they decay.
    const Scope decay = scope.WithControlDependencies({gradient.node});
    const Output decayed = ops::AssignSub(decay, variable, ops::Mul(scope, variable, factor));
    return Update(step, scope.WithControlDependencies({decayed.node}), gradient, variable);
  }

 private:
  double weight_decay_;
};

class AdaMax : public Adam {
 public:
  AdaMax(LearningRate rate, AdamOptions options) : Adam("AdaMax", rate, options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Variable m = step.ZeroSlot(variable, "m");
    const Variable v = step.ZeroSlot(variable, "v");
    return ops::ApplyAdaMax(step.ScopeOf(variable), variable, m, v, step.SharedAs("beta1_power", options_.beta1, dtype),
                            step.Rate(dtype), step.Constant("beta1", options_.beta1, dtype),
                            step.Constant("beta2", options_.beta2, dtype), step.Constant("epsilon", options_.epsilon, dtype),
                            gradient);
  }

  std::vector<NodeId> Finish(Step& step) override { return {Multiply(step, "beta1_power", options_.beta1)}; }
};

}  // namespace

std::unique_ptr<Optimizer> AdamOptimizer(LearningRate rate, AdamOptions options) {
  return std::make_unique<Adam>("Adam", rate, options);
}

std::unique_ptr<Optimizer> AdamWOptimizer(LearningRate rate, double weight_decay, AdamOptions options) {
  return std::make_unique<AdamW>(rate, weight_decay, options);
}

std::unique_ptr<Optimizer> AdaMaxOptimizer(LearningRate rate, AdamOptions options) {
  return std::make_unique<AdaMax>(rate, options);
}

}  // namespace muster
