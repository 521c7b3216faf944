#pragma once

#include <map>
#include <string>
#include <vector>

#include "muster/optimizer.h"

namespace muster {

// One call of ApplyGradients while it builds: where updates go, and the scalars and state that they share. Lives on the
// stack of that call.
class Optimizer::Step {
 public:
  // The type of scalar state, as in TensorFlow: float32 whatever the variables are.
  static constexpr DType kStateDType = DType::kFloat32;

  Step(Optimizer* optimizer, Scope scope, Variable first_variable)
      : optimizer_(optimizer), scope_(std::move(scope)), first_variable_(first_variable) {}

  // The same step, for operations that wait for these nodes.
  Step After(const std::vector<NodeId>& nodes) const {
    return {optimizer_, scope_.WithControlDependencies(nodes), first_variable_};
  }

  const Scope& scope() const { return scope_; }
  // For the update of one variable: "Momentum/update_<variable>", on the variable's device.
  Scope ScopeOf(const Variable& variable) const;
  DType dtype(const Variable& variable) const { return scope_.dtype(variable.ref); }

  // The learning rate and other scalars as a variable's type, made once per type. Numbers are rounded to float32 first,
  // because that is what TensorFlow keeps them in.
  Output Rate(DType dtype);
  Output Constant(const std::string& name, double value, DType dtype);

  // The slot of a variable, made when it is first asked for.
  Variable Slot(const Variable& variable, const std::string& slot, const Initializer& initializer);
  Variable ZeroSlot(const Variable& variable, const std::string& slot) {
    return Slot(variable, slot, initializers::Zeros());
  }

  // Scalar state beside the first variable.
  Variable Shared(const std::string& name, double initial);
  Output SharedAs(const std::string& name, double initial, DType dtype);
  // Makes shared state "factor" times what it is; a power that starts at its base. Returns the node that assigns it.
  NodeId MultiplyShared(const std::string& name, double factor);
  // The number of this update, 1 for the first, and what raises it when the update is done; and powers of that
  // number. For optimizers that are not TensorFlow operations: powers that are kept and multiplied each time round
  // more.
  Variable Iteration();
  NodeId AdvanceIteration();
  Output PowerOfIteration(const std::string& name, double base);

  // average := (1 - rate) average + rate x, as average -= rate (average - x); the output is the new average.
  Output UpdateAverage(const Scope& scope, const Variable& average, Output x, Output rate) const;

  // Any scalar that "make" builds, once per step and type: key names it.
  template <typename Make>
  Output Once(const std::string& key, DType dtype, Make make) {
    Output& cached = cache_[{key, dtype}];
    if (!cached.is_valid()) cached = make();
    return cached;
  }
  Output CastTo(Output x, DType dtype) const;

 private:
  Variable MakeState(const std::string& name, DType dtype, const Shape& shape, const Initializer& initializer,
                     const Variable& beside);

  Optimizer* optimizer_;
  Scope scope_;
  Variable first_variable_;
  std::map<std::pair<std::string, DType>, Output> cache_;
};

}  // namespace muster
