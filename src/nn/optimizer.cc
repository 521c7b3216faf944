#include "muster/optimizer.h"

#include <fmt/format.h>

#include "muster/error.h"
#include "muster/gradients.h"
#include "muster/ops/math.h"
#include "nn/optimizer_step.h"

namespace muster {
namespace {

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

// A constant that TensorFlow holds as float32, as a variable's type. In float64 the rounding stays; half-precision
// scalars are made by a cast, because there are no constants of that type.
Output RoundedConstant(const Scope& scope, const std::string& name, double value, DType dtype) {
  const double rounded = static_cast<double>(static_cast<float>(value));
  const bool plain = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  const Output constant = ops::ScalarLike(scope.Named(name), rounded, plain ? dtype : DType::kFloat32);
  return plain ? constant : ops::Cast(scope.Named(name), constant, dtype);
}

}  // namespace

Output LearningRate::As(const Scope& scope, DType dtype) const {
  if (!output_.is_valid()) return RoundedConstant(scope, "learning_rate", value_, dtype);
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

NodeId Optimizer::ApplyGradients(const Scope& outer, const std::vector<GradientAndVariable>& gradients,
                                 Output global_step) {
  const std::vector<GradientAndVariable> pairs = WithGradient(gradients);
  if (pairs.empty()) throw InvalidArgument(fmt::format("{} optimizer: the loss depends on no variable", name_));
  const Scope scope = outer.WithName(name_);
  Step step(this, scope, pairs[0].variable);
  std::vector<NodeId> done;
  for (const GradientAndVariable& pair : pairs) done.push_back(ApplyOne(step, pair.gradient, pair.variable));
  Step after = step.After(done);
  const std::vector<NodeId> finished = Finish(after);
  done.insert(done.end(), finished.begin(), finished.end());
  if (global_step.is_valid()) {
    const Scope last = scope.WithControlDependencies(done).ColocatedWith(global_step.node);
    done.push_back(
        ops::AssignAdd(last, global_step, ops::ScalarLike(scope.Named("one"), 1, scope.dtype(global_step))).node);
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
  return Once(name, dtype, [&] { return RoundedConstant(scope_.WithoutControlDependencies(), name, value, dtype); });
}

Output Optimizer::Step::CastTo(Output x, DType dtype) const {
  return scope_.dtype(x) == dtype ? x : ops::Cast(scope_, x, dtype);
}

Variable Optimizer::Step::MakeState(const std::string& name, DType dtype, const Shape& shape,
                                    const Initializer& initializer, const Variable& beside) {
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
  const Variable value = MakeState(name, kStateDType, {}, initializers::Constant(initial), first_variable_);
  return optimizer_->shared_.emplace(name, value).first->second;
}

Output Optimizer::Step::SharedAs(const std::string& name, double initial, DType dtype) {
  return Once(name, dtype, [&] { return CastTo(Shared(name, initial), dtype); });
}

NodeId Optimizer::Step::MultiplyShared(const std::string& name, double factor) {
  const Variable variable = Shared(name, factor);
  const Scope scope = scope_.ColocatedWith(variable.ref.node);
  const Output next = ops::Mul(scope, variable, Constant("factor_of_" + name, factor, kStateDType));
  return ops::Assign(scope, variable, next).node;
}

Variable Optimizer::Step::Iteration() { return Shared("iteration", 1); }

NodeId Optimizer::Step::AdvanceIteration() {
  const Variable iteration = Iteration();
  return ops::AssignAdd(scope_.ColocatedWith(iteration.ref.node), iteration, Constant("one", 1, kStateDType)).node;
}

Output Optimizer::Step::PowerOfIteration(const std::string& name, double base) {
  return Once(name + "_power", kStateDType,
              [&] { return ops::Pow(scope_, Constant(name, base, kStateDType), Iteration()); });
}

Output Optimizer::Step::UpdateAverage(const Scope& scope, const Variable& average, Output x, Output rate) const {
  return ops::AssignSub(scope, average, ops::Mul(scope, ops::Sub(scope, average, x), rate));
}

}  // namespace muster
