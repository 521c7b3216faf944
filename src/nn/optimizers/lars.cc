// Layer-wise adaptive rates (You et al. 2017), from plain operations and TensorFlow's momentum update.

#include "muster/losses.h"
#include "muster/ops/math.h"
#include "muster/ops/training.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

class Lars : public Optimizer {
 public:
  Lars(LearningRate rate, LarsOptions options) : Optimizer("LARS", rate), options_(options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Scope scope = step.ScopeOf(variable);
    const bool adapts = HasWeightDecay(VariableName(*scope.graph(), variable));
    const Output update =
        adapts ? AdaptedGradient(step, scope, gradient, variable) : ops::Mul(scope, gradient, step.Rate(dtype));
    // The rate is inside the momentum, so the update operation gets a rate of one.
    return ops::ApplyMomentum(scope, variable, step.ZeroSlot(variable, "momentum"), step.Constant("one", 1, dtype),
                              update, step.Constant("momentum", options_.momentum, dtype), options_.use_nesterov);
  }

 private:
  static Output Norm(const Scope& scope, Output x) { return ops::Sqrt(scope, ops::Sum(scope, ops::Square(scope, x))); }

  // rate trust (g + decay w).
  Output AdaptedGradient(Step& step, const Scope& scope, Output gradient, const Variable& variable) {
    const DType dtype = step.dtype(variable);
    const Output decay = step.Constant("weight_decay", options_.weight_decay, dtype);
    const Output zero = step.Constant("zero", 0, dtype);
    const Output weight_norm = Norm(scope, variable), gradient_norm = Norm(scope, gradient);
    const Output both =
        ops::LogicalAnd(scope, ops::Greater(scope, weight_norm, zero), ops::Greater(scope, gradient_norm, zero));
    const Output ratio = ops::Div(scope, ops::Mul(scope, step.Constant("eta", options_.eta, dtype), weight_norm),
                                  ops::Add(scope, gradient_norm, ops::Mul(scope, decay, weight_norm)));
    const Output trust = ops::Select(scope, both, ratio, step.Constant("one", 1, dtype));
    const Output decayed = ops::Add(scope, gradient, ops::Mul(scope, decay, variable));
    return ops::Mul(scope, ops::Mul(scope, step.Rate(dtype), trust), decayed);
  }

  LarsOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> LarsOptimizer(LearningRate rate, LarsOptions options) {
  return std::make_unique<Lars>(rate, options);
}

}  // namespace muster
