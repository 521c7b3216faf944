#include "muster/ops/training.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

class RMSProp : public Optimizer {
 public:
  RMSProp(LearningRate rate, RMSPropOptions options) : Optimizer("RMSProp", rate), options_(options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Variable square = step.Slot(variable, "rms", initializers::Ones());
    const Variable mean = options_.centered ? step.ZeroSlot(variable, "mg") : Variable{};
    const Variable momentum = step.ZeroSlot(variable, "momentum");
    const Output rate = step.Rate(dtype);
    const Output decay = step.Constant("decay", options_.decay, dtype);
    const Output factor = step.Constant("momentum", options_.momentum, dtype);
    const Output epsilon = step.Constant("epsilon", options_.epsilon, dtype);
    const Scope scope = step.ScopeOf(variable);
    if (options_.centered)
      return ops::ApplyCenteredRMSProp(scope, variable, mean, square, momentum, rate, decay, factor, epsilon, gradient);
    return ops::ApplyRMSProp(scope, variable, square, momentum, rate, decay, factor, epsilon, gradient);
  }

 private:
  RMSPropOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> RMSPropOptimizer(LearningRate rate, RMSPropOptions options) {
  return std::make_unique<RMSProp>(rate, options);
}

}  // namespace muster
