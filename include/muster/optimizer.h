#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "muster/variables.h"

namespace muster {

// A learning rate: a number, or a scalar of any floating type that the graph computes (see schedule.h).
class LearningRate {
 public:
  LearningRate(double value) : value_(value) {}     // NOLINT: a number is a rate
  LearningRate(Output output) : output_(output) {}  // NOLINT
  // The rate as a scalar of this type.
  Output As(const Scope& scope, DType dtype) const;

 private:
  double value_ = 0;
  Output output_;
};

struct GradientAndVariable {
  Output gradient;  // invalid: the loss does not depend on the variable
  Variable variable;
};

// Builds the operations of one training step from a loss, as TensorFlow 1's tf.train.Optimizer does: gradients, then
// an update per variable. What it remembers between steps (slots) are variables of the graph beside the variable they
// belong to: same device, not trained, named "<variable>/Momentum". An optimizer serves one graph; used by the thread
// that builds it. Formulas: tests/data/golden/optimizers.json.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // d(loss)/d(variable) for each of "variables" (default: all trainable ones of the graph).
  std::vector<GradientAndVariable> ComputeGradients(const Scope& scope, Output loss,
                                                    std::vector<Variable> variables = {}) const;
  // Updates each variable that has a gradient, then adds one to global_step (int64) if it is valid. The node is done
  // when everything is. Throws InvalidArgument if no variable has a gradient.
  NodeId ApplyGradients(const Scope& scope, const std::vector<GradientAndVariable>& gradients, Output global_step = {});
  // Both together.
  NodeId Minimize(const Scope& scope, Output loss, Output global_step = {}, std::vector<Variable> variables = {});

  // TensorFlow's name: "Momentum".
  const std::string& name() const { return name_; }
  // The slots of a variable that ApplyGradients has made, by TensorFlow's slot name ("momentum", "rms", …), in the
  // order of creation; all of them for a checkpoint, one for a test. Slot throws NotFound.
  std::vector<std::pair<std::string, Variable>> Slots(const Variable& variable) const;
  Variable Slot(const Variable& variable, const std::string& slot) const;

 protected:
  Optimizer(std::string name, LearningRate rate) : name_(std::move(name)), rate_(rate) {}

  // Everything an update of one variable needs. Scalars are shared by all variables of one type.
  class Step;
  // Adds the update of one variable and returns its last node.
  virtual NodeId ApplyOne(Step& step, Output gradient, const Variable& variable) = 0;
  // What follows the updates of all variables (powers of beta). Returns nodes to wait for.
  virtual std::vector<NodeId> Finish(Step&) { return {}; }

 private:
  struct SlotEntry {
    NodeId variable;
    std::string slot;
    Variable value;
  };

  std::string name_;
  LearningRate rate_;
  std::vector<SlotEntry> slots_;
  std::map<std::string, Variable> shared_;  // state that is not a variable's own: beta1_power
};

// tf.train.*Optimizer, with TensorFlow's defaults.
std::unique_ptr<Optimizer> GradientDescentOptimizer(LearningRate rate);
// a = m a + g; w -= rate a (Nesterov: w -= rate (g + m a)).
std::unique_ptr<Optimizer> MomentumOptimizer(LearningRate rate, double momentum, bool use_nesterov = false);

// The mean square starts at 1, epsilon is inside the root and the rate inside the momentum.
struct RMSPropOptions {
  double decay = 0.9, momentum = 0, epsilon = 1e-10;
  bool centered = false;
};
std::unique_ptr<Optimizer> RMSPropOptimizer(LearningRate rate, RMSPropOptions options = {});

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};
std::unique_ptr<Optimizer> AdamOptimizer(LearningRate rate, AdamOptions options = {});
// Decoupled decay (Loshchilov and Hutter 2017): first w -= rate * decay * w, for the variables that HasWeightDecay
// (losses.h) covers, then Adam.
std::unique_ptr<Optimizer> AdamWOptimizer(LearningRate rate, double weight_decay, AdamOptions options = {});
std::unique_ptr<Optimizer> AdaMaxOptimizer(LearningRate rate, AdamOptions options = {});
// Adam with Nesterov momentum (Dozat 2016) whose momentum follows mu_t = beta1 (1 - 0.96^t / 2).
std::unique_ptr<Optimizer> NadamOptimizer(LearningRate rate, AdamOptions options = {});

std::unique_ptr<Optimizer> AdagradOptimizer(LearningRate rate, double initial_accumulator = 0.1);
std::unique_ptr<Optimizer> AdadeltaOptimizer(LearningRate rate, double rho = 0.95, double epsilon = 1e-8);

struct FtrlOptions {
  double learning_rate_power = -0.5, initial_accumulator = 0.1, l1 = 0, l2 = 0;
};
std::unique_ptr<Optimizer> FtrlOptimizer(LearningRate rate, FtrlOptions options = {});
std::unique_ptr<Optimizer> ProximalGradientDescentOptimizer(LearningRate rate, double l1 = 0, double l2 = 0);

// Layer-wise rates (You et al. 2017): trust = eta |w| / (|g| + decay |w|), 1 where |w| or |g| is 0;
// a = m a + rate trust (g + decay w); w -= a. Variables without weight decay (batch norm) get trust 1 and no decay.
struct LarsOptions {
  double momentum = 0.9, eta = 0.001, weight_decay = 1e-4;
  bool use_nesterov = false;
};
std::unique_ptr<Optimizer> LarsOptimizer(LearningRate rate, LarsOptions options = {});

// Shadow copies of variables that follow them: shadow -= (1 - d)(shadow - variable), with d = decay, or
// min(decay, (1 + n)/(10 + n)) where n is "num_updates" (tf.train.ExponentialMovingAverage).
class ExponentialMovingAverage {
 public:
  explicit ExponentialMovingAverage(double decay, Output num_updates = {}) : decay_(decay), num_updates_(num_updates) {}
  // Makes the shadows "<variable>/ExponentialMovingAverage", which start at the variable's first value, and returns
  // the node that updates them. Put it behind the training step with a control dependency, to average what the step
  // has left.
  NodeId Apply(const Scope& scope, const std::vector<Variable>& variables);
  // The shadow of a variable; throws NotFound if there is none.
  Variable Average(const Variable& variable) const;

 private:
  double decay_;
  Output num_updates_;
  std::map<NodeId, Variable> shadows_;
};

}  // namespace muster
