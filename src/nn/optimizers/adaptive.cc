// Adagrad, Adadelta and FTRL: rates per weight from accumulated squares.

#include "muster/ops/training.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

class Adagrad : public Optimizer {
 public:
  Adagrad(LearningRate rate, double initial_accumulator)
      : Optimizer("Adagrad", rate), initial_accumulator_(initial_accumulator) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const Variable accumulator = step.Slot(variable, "accumulator", initializers::Constant(initial_accumulator_));
    return ops::ApplyAdagrad(step.ScopeOf(variable), variable, accumulator, step.Rate(step.dtype(variable)), gradient);
  }

 private:
  double initial_accumulator_;
};

class Adadelta : public Optimizer {
 public:
  Adadelta(LearningRate rate, double rho, double epsilon) : Optimizer("Adadelta", rate), rho_(rho), epsilon_(epsilon) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Variable squares = step.ZeroSlot(variable, "accum");
    const Variable updates = step.ZeroSlot(variable, "accum_update");
    return ops::ApplyAdadelta(step.ScopeOf(variable), variable, squares, updates, step.Rate(dtype),
                              step.Constant("rho", rho_, dtype), step.Constant("epsilon", epsilon_, dtype), gradient);
  }

 private:
  double rho_, epsilon_;
};

class Ftrl : public Optimizer {
 public:
  Ftrl(LearningRate rate, FtrlOptions options) : Optimizer("Ftrl", rate), options_(options) {}

  NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) override {
    const DType dtype = step.dtype(variable);
    const Variable squares = step.Slot(variable, "accum", initializers::Constant(options_.initial_accumulator));
    const Variable linear = step.ZeroSlot(variable, "linear");
    return ops::ApplyFtrl(step.ScopeOf(variable), variable, squares, linear, gradient, step.Rate(dtype),
                          step.Constant("l1", options_.l1, dtype), step.Constant("l2", options_.l2, dtype),
                          step.Constant("learning_rate_power", options_.learning_rate_power, dtype));
  }

 private:
  FtrlOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> AdagradOptimizer(LearningRate rate, double initial_accumulator) {
  return std::make_unique<Adagrad>(rate, initial_accumulator);
}

std::unique_ptr<Optimizer> AdadeltaOptimizer(LearningRate rate, double rho, double epsilon) {
  return std::make_unique<Adadelta>(rate, rho, epsilon);
}

std::unique_ptr<Optimizer> FtrlOptimizer(LearningRate rate, FtrlOptions options) {
  return std::make_unique<Ftrl>(rate, options);
}

}  // namespace muster
