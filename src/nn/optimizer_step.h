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
  Step(Optimizer* optimizer, Scope scope, DType state_dtype, Variable first_variable)
      : optimizer_(optimizer), scope_(std::move(scope)), state_dtype_(state_dtype), first_variable_(first_variable) {}

  const Scope& scope() const { return scope_; }
  // For the update of one variable: "Momentum/update_<variable>", on the variable's device.
  Scope ScopeOf(const Variable& variable) const;
  DType dtype(const Variable& variable) const { return scope_.dtype(variable.ref); }

  // The learning rate and other scalars as a variable's type, made once per type.
  Output Rate(DType dtype);
  Output Constant(const std::string& name, double value, DType dtype);

  // The slot of a variable, made when it is first asked for.
  Variable Slot(const Variable& variable, const std::string& slot, const Initializer& initializer);
  Variable ZeroSlot(const Variable& variable, const std::string& slot) { return Slot(variable, slot, initializers::Zeros()); }

  // Scalar state beside the first variable; float64 in a float64 model, else float32.
  Variable Shared(const std::string& name, double initial);
  Output SharedAs(const std::string& name, double initial, DType dtype);
  DType state_dtype() const { return state_dtype_; }

  // Any scalar that "make" builds in state_dtype(), once per step and type: key names it.
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
  DType state_dtype_;
  Variable first_variable_;
  std::map<std::pair<std::string, DType>, Output> cache_;
};

}  // namespace muster
