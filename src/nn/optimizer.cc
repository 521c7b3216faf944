#include "muster/optimizer.h"

#include <algorithm>

#include <fmt/format.h>

#include "muster/error.h"
#include "muster/gradients.h"
#include "muster/ops/math.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

// The type of state that all variables share: as wide as the widest of them, at least float32.
DType StateDType(const Scope& scope, const std::vector<GradientAndVariable>& pairs) {
  const bool wide = std::any_of(pairs.begin(), pairs.end(), [&](const GradientAndVariable& pair) {
    return scope.dtype(pair.variable.ref) == DType::kFloat64;
  });
  return wide ? DType::kFloat64 : DType::kFloat32;
}

std::vector<GradientAndVariable> WithGradient(const std::vector<GradientAndVariable>& pairs) {
  std::vector<GradientAndVariable> result;
  for (const GradientAndVariable& pair : pairs)
    if (pair.gradient.is_valid()) result.push_back(pair);
  return result;
}

// "name", or "name_1", "name_2", … whichever no node has: how TensorFlow tells a variable's second slot from its first.
std::string FreeName(const Graph& graph, const std::string& name) {
  std::string candidate = name;
  for (int i = 1; graph.Find(candidate) != kNoNode; ++i) candidate = fmt::format("{}_{}", name, i);
  return candidate;
}

}  // namespace

Output LearningRate::As(const Scope& scope, DType dtype) const {
  if (!output_.is_valid()) return ops::ScalarLike(scope.Named("learning_rate"), value_, dtype);
  return scope.dtype(output_) == dtype ? output_ : ops::Cast(scope.Named("learning_rate"), output_, dtype);
}

std::vector<GradientAndVariable> Optimizer::ComputeGradients(const Scope& scope, Output loss,
                                                             std::vector<Variable> variables) const {
  if (variables.empty()) variables = TrainableVariables(*scope.graph());
  std::vector<Output> refs;
  for (const Variable& variable : variables) refs.push_back(variable.ref);
  const std::vector<Output> gradients = Gradients(scope, loss, refs);
  std::vector<GradientAndVariable> pairs;
  for (size_t i = 0; i < variables.size(); ++i) pairs.push_back({gradients[i], variables[i]});
  return pairs;
}

NodeId Optimizer::ApplyGradients(const Scope& outer, const std::vector<GradientAndVariable>& gradients, Output global_step) {
  const std::vector<GradientAndVariable> pairs = WithGradient(gradients);
  if (pairs.empty()) throw InvalidArgument(fmt::format("{} optimizer: the loss depends on no variable", name_));
  const Scope scope = outer.WithName(name_);
  Step step(this, scope, StateDType(scope, pairs), pairs[0].variable);
  std::vector<NodeId> done;
  for (const GradientAndVariable& pair : pairs) done.push_back(ApplyOne(step, pair.gradient, pair.variable));
  const std::vector<NodeId> finished = [&] {
    Step after(this, scope.WithControlDependencies(done), step.state_dtype(), pairs[0].variable);
    return Finish(after);
  }();
  done.insert(done.end(), finished.begin(), finished.end());
  if (global_step.is_valid()) {
    const Scope last = scope.WithControlDependencies(done).ColocatedWith(global_step.node);
    done.push_back(ops::AssignAdd(last, global_step, ops::ScalarLike(scope.Named("one"), 1, scope.dtype(global_step))).node);
  }
  return ops::Group(scope.Named("step"), done);
}

NodeId Optimizer::Minimize(const Scope& scope, Output loss, Output global_step, std::vector<Variable> variables) {
  return ApplyGradients(scope, ComputeGradients(scope, loss, std::move(variables)), global_step);
}

std::vector<std::pair<std::string, Variable>> Optimizer::Slots(const Variable& variable) const {
  std::vector<std::pair<std::string, Variable>> slots;
  for (const SlotEntry& entry : slots_)
    if (entry.variable == variable.ref.node) slots.emplace_back(entry.slot, entry.value);
  return slots;
}

Variable Optimizer::Slot(const Variable& variable, const std::string& slot) const {
  for (const auto& [name, value] : Slots(variable))
    if (name == slot) return value;
  throw NotFound(fmt::format("the {} optimizer has no slot {} for this variable", name_, slot));
}

Scope Optimizer::Step::ScopeOf(const Variable& variable) const {
  return scope_.WithName("update_" + VariableName(*scope_.graph(), variable)).ColocatedWith(variable.ref.node);
}

Output Optimizer::Step::Rate(DType dtype) {
  return Once("learning_rate", dtype, [&] { return optimizer_->rate_.As(scope_.WithoutControlDependencies(), dtype); });
}

Output Optimizer::Step::Constant(const std::string& name, double value, DType dtype) {
  // Half-precision scalars are made by rounding: there are no constants of that type.
  const bool plain = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  return Once(name, dtype, [&] {
    const Scope scope = scope_.WithoutControlDependencies().Named(name);
    return CastTo(ops::ScalarLike(scope, value, plain ? dtype : DType::kFloat32), dtype);
  });
}

Output Optimizer::Step::CastTo(Output x, DType dtype) const {
  return scope_.dtype(x) == dtype ? x : ops::Cast(scope_, x, dtype);
}

Variable Optimizer::Step::MakeState(const std::string& name, DType dtype, const Shape& shape, const Initializer& initializer,
                                    const Variable& beside) {
  const Scope scope = scope_.WithoutName().WithoutControlDependencies().ColocatedWith(beside.ref.node);
  const std::string free_name = FreeName(*scope.graph(), name);
  return GetVariable(scope, {free_name, dtype, shape, initializer, false});
}

Variable Optimizer::Step::Slot(const Variable& variable, const std::string& slot, const Initializer& initializer) {
  for (const SlotEntry& entry : optimizer_->slots_)
    if (entry.variable == variable.ref.node && entry.slot == slot) return entry.value;
  const std::string name = fmt::format("{}/{}", VariableName(*scope_.graph(), variable), optimizer_->name_);
  const Variable value = MakeState(name, dtype(variable), scope_.shape(variable.ref), initializer, variable);
  optimizer_->slots_.push_back({variable.ref.node, slot, value});
  return value;
}

Variable Optimizer::Step::Shared(const std::string& name, double initial) {
  auto it = optimizer_->shared_.find(name);
  if (it != optimizer_->shared_.end()) return it->second;
  const Variable value = MakeState(name, state_dtype_, {}, initializers::Constant(initial), first_variable_);
  return optimizer_->shared_.emplace(name, value).first->second;
}

Output Optimizer::Step::SharedAs(const std::string& name, double initial, DType dtype) {
  return Once(name, dtype, [&] { return CastTo(Shared(name, initial), dtype); });
}

}  // namespace muster
