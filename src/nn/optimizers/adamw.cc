// AdamW (Loshchilov and Hutter 2017), from plain operations: the decay comes first and changes the weights that Adam
// then updates.

#include "muster/losses.h"
#include "muster/ops/math.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

class AdamW : public Optimizer {
 public:
  AdamW(LearningRate rate, double weight_decay, AdamOptions options)
      : Optimizer("AdamW", rate), weight_decay_(weight_decay), options_(options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    // The gradient belongs to the weights before they change.
    const Scope scope = step.ScopeOf(variable).WithControlDependencies({gradient.node});
    const Output m = step.UpdateAverage(scope, step.ZeroSlot(variable, "m"), gradient,
                                        step.Constant("one_minus_beta1", 1 - options_.beta1, dtype));
    const Output v = step.UpdateAverage(scope, step.ZeroSlot(variable, "v"), ops::Square(scope, gradient),
                                        step.Constant("one_minus_beta2", 1 - options_.beta2, dtype));
    const Output divisor = ops::Add(scope, ops::Sqrt(scope, v), step.Constant("epsilon", options_.epsilon, dtype));
    const Output update = ops::Div(scope, ops::Mul(scope, m, StepSize(step, dtype)), divisor);
    if (!HasWeightDecay(VariableName(*scope.graph(), variable))) return ops::AssignSub(scope, variable, update).node;
    const Output decayed = ops::Sub(scope, variable, ops::Mul(scope, variable, DecayRate(step, dtype)));
    return ops::Assign(scope, variable, ops::Sub(scope, decayed, update)).node;
  }

  std::vector<NodeId> Finish(Step& step) override { return {step.AdvanceIteration()}; }

 private:
  Output DecayRate(Step& step, DType dtype) {
    return step.Once("decay_rate", dtype, [&] {
      return ops::Mul(step.scope(), step.Rate(dtype), step.Constant("weight_decay", weight_decay_, dtype));
    });
  }

  // rate sqrt(1 - beta2^t) / (1 - beta1^t).
  Output StepSize(Step& step, DType dtype) {
    return step.Once("step_size", dtype, [&] {
      const Scope& scope = step.scope();
      const DType state = Step::kStateDType;
      const Output one = step.Constant("one", 1, state);
      const Output first = ops::Sub(scope, one, step.PowerOfIteration("beta1", options_.beta1));
      const Output second = ops::Sub(scope, one, step.PowerOfIteration("beta2", options_.beta2));
      return step.CastTo(ops::Div(scope, ops::Mul(scope, step.Rate(state), ops::Sqrt(scope, second)), first), dtype);
    });
  }

  double weight_decay_;
  AdamOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> AdamWOptimizer(LearningRate rate, double weight_decay, AdamOptions options) {
  return std::make_unique<AdamW>(rate, weight_decay, options);
}

}  // namespace muster
