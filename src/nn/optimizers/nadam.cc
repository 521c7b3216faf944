// Nadam (Dozat 2016), from plain operations: TensorFlow has no update operation for it.

#include "muster/ops/math.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

constexpr double kScheduleBase = 0.96;

// With t = 1, 2, …: mu_t = beta1 (1 - 0.96^t / 2), P_t = mu_1 … mu_t,
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
//   w -= rate ((1 - mu_t) g / (1 - P_t) + mu_(t+1) m / (1 - P_(t+1))) / (sqrt(v / (1 - beta2^t)) + epsilon).
class Nadam : public Optimizer {
 public:
  Nadam(LearningRate rate, AdamOptions options) : Optimizer("Nadam", rate), options_(options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Scope scope = step.ScopeOf(variable);
    const Output m =
        step.UpdateAverage(scope, step.ZeroSlot(variable, "m"), gradient, Rest(step, "beta1", options_.beta1, dtype));
    const Output v = step.UpdateAverage(scope, step.ZeroSlot(variable, "v"), ops::Square(scope, gradient),
                                        Rest(step, "beta2", options_.beta2, dtype));
    const Scalars scalars = ComputeScalars(step);
    const auto as = [&](const char* key, Output x) {
      return step.Once(key, dtype, [&] { return step.CastTo(x, dtype); });
    };
    const Output direction = ops::Add(scope, ops::Mul(scope, gradient, as("of_gradient_cast", scalars.of_gradient)),
                                      ops::Mul(scope, m, as("of_m_cast", scalars.of_m)));
    const Output root = ops::Sqrt(scope, ops::Mul(scope, v, as("of_v_cast", scalars.of_v)));
    const Output divisor = ops::Add(scope, root, step.Constant("epsilon", options_.epsilon, dtype));
    const Output update = ops::Mul(scope, step.Rate(dtype), ops::Div(scope, direction, divisor));
    return ops::AssignSub(scope.WithControlDependencies({gradient.node}), variable, update).node;
  }

  std::vector<NodeId> Finish(Step& step) override {
    const Variable product = MuProduct(step);
    const Output next = ops::Mul(step.scope(), product, Mu(step, Power(step)));
    // mu comes from the iteration's number, which therefore rises last.
    Step last = step.After({next.node});
    return {ops::Assign(step.scope(), product, next).node, last.AdvanceIteration()};
  }

 private:
  // Factors of the gradient, of m and of v in the update.
  struct Scalars {
    Output of_gradient, of_m, of_v;
  };

  Variable MuProduct(Step& step) { return step.Shared("mu_product", 1); }
  // 0.96^t.
  Output Power(Step& step) { return step.PowerOfIteration("schedule_base", kScheduleBase); }

  // beta1 (1 - power / 2).
  Output Mu(Step& step, Output power) {
    const DType dtype = Step::kStateDType;
    const Output half = ops::Mul(step.scope(), power, step.Constant("half", 0.5, dtype));
    return ops::Mul(step.scope(), step.Constant("beta1", options_.beta1, dtype), OneMinus(step, half));
  }

  // 1 - beta, with beta rounded first; only then 1 - beta and 1 - beta^t cancel in the first steps.
  static Output Rest(Step& step, const std::string& name, double beta, DType dtype) {
    return step.Constant("one_minus_" + name, 1 - static_cast<double>(static_cast<float>(beta)), dtype);
  }

  Output OneMinus(Step& step, Output x) {
    return ops::Sub(step.scope(), step.Constant("one", 1, Step::kStateDType), x);
  }

  Scalars ComputeScalars(Step& step) {
    const Scope& scope = step.scope();
    const DType dtype = Step::kStateDType;
    Scalars scalars;
    const Output mu = step.Once("mu", dtype, [&] { return Mu(step, Power(step)); });
    const Output next_mu = step.Once("next_mu", dtype, [&] {
      return Mu(step, ops::Mul(scope, Power(step), step.Constant("schedule_base", kScheduleBase, dtype)));
    });
    const Output product = step.Once("product", dtype, [&] { return ops::Mul(scope, MuProduct(step), mu); });
    scalars.of_gradient =
        step.Once("of_gradient", dtype, [&] { return ops::Div(scope, OneMinus(step, mu), OneMinus(step, product)); });
    scalars.of_m = step.Once(
        "of_m", dtype, [&] { return ops::Div(scope, next_mu, OneMinus(step, ops::Mul(scope, product, next_mu))); });
    scalars.of_v = step.Once("of_v", dtype, [&] {
      return ops::Reciprocal(scope, OneMinus(step, step.PowerOfIteration("beta2", options_.beta2)));
    });
    return scalars;
  }

  AdamOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> NadamOptimizer(LearningRate rate, AdamOptions options) {
  return std::make_unique<Nadam>(rate, options);
}

}  // namespace muster
