// Adam and AdaMax: a first and a second moment per variable, and the powers of beta that all share.

#include "muster/ops/training.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

class Adam : public Optimizer {
 public:
  Adam(LearningRate rate, AdamOptions options) : Optimizer("Adam", rate), options_(options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Variable m = step.ZeroSlot(variable, "m");
    const Variable v = step.ZeroSlot(variable, "v");
    const Output beta1_power = step.SharedAs("beta1_power", options_.beta1, dtype);
    const Output beta2_power = step.SharedAs("beta2_power", options_.beta2, dtype);
    return ops::ApplyAdam(step.ScopeOf(variable), variable, m, v, beta1_power, beta2_power, step.Rate(dtype),
                          step.Constant("beta1", options_.beta1, dtype), step.Constant("beta2", options_.beta2, dtype),
                          step.Constant("epsilon", options_.epsilon, dtype), gradient);
  }

  std::vector<NodeId> Finish(Step& step) override {
    return {step.MultiplyShared("beta1_power", options_.beta1), step.MultiplyShared("beta2_power", options_.beta2)};
  }

 private:
  AdamOptions options_;
};

class AdaMax : public Optimizer {
 public:
  AdaMax(LearningRate rate, AdamOptions options) : Optimizer("AdaMax", rate), options_(options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Variable m = step.ZeroSlot(variable, "m");
    const Variable v = step.ZeroSlot(variable, "v");
    return ops::ApplyAdaMax(step.ScopeOf(variable), variable, m, v, step.SharedAs("beta1_power", options_.beta1, dtype),
                            step.Rate(dtype), step.Constant("beta1", options_.beta1, dtype),
                            step.Constant("beta2", options_.beta2, dtype),
                            step.Constant("epsilon", options_.epsilon, dtype), gradient);
  }

  std::vector<NodeId> Finish(Step& step) override { return {step.MultiplyShared("beta1_power", options_.beta1)}; }

 private:
  AdamOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> AdamOptimizer(LearningRate rate, AdamOptions options) {
  return std::make_unique<Adam>(rate, options);
}

std::unique_ptr<Optimizer> AdaMaxOptimizer(LearningRate rate, AdamOptions options) {
  return std::make_unique<AdaMax>(rate, options);
}

}  // namespace muster
