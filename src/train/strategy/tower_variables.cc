#include "train/strategy/tower_variables.h"

#include <fmt/format.h>

namespace muster::train {
namespace {

// The first value of a variable, as an initializer of another one.
Initializer SameAs(const Graph& graph, NodeId variable) {
  const Output value = graph.node(graph.FindVariable(variable)->initializer).inputs[1];
  return [value](const Scope&, DType, const Shape&) { return value; };
}

}  // namespace

std::string TowerVariables::ScopeName(int tower) const {
  return strategy_.variable_update == VariableUpdate::kParameterServer ? "v" : fmt::format("v{}", tower);
}

VariableGetter TowerVariables::GetterOf(int tower) {
  if (strategy_.variable_update != VariableUpdate::kParameterServer)
    return [this, tower](const Scope& scope, const VariableSpec& spec) { return Copy(scope, spec, tower); };
  return [this, tower](const Scope& scope, const VariableSpec& spec) {
    return strategy_.staged_variables && spec.trainable ? StagedCopy(scope, spec, tower) : Shared(scope, spec);
  };
}

Variable TowerVariables::Updated(const Variable& read) const {
  const auto found = original_of_.find(read.ref.node);
  return found == original_of_.end() ? read : found->second;
}

Variable TowerVariables::Shared(const Scope& scope, const VariableSpec& spec) {
  const bool is_new = scope.graph()->Find(scope.variable_prefix() + std::string(spec.name)) == kNoNode;
  if (!is_new) return GetVariable(scope, spec, Reuse::kAlways);
  return GetVariable(scope.WithDevice(DeviceFor(spec.shape.num_elements())), spec);
}

// The tower's device with the fewest elements, the first of several.
std::string TowerVariables::DeviceFor(int64_t elements) {
  if (!strategy_.parameter_device.empty()) return strategy_.parameter_device;
  std::string best = strategy_.tower_devices[0];
  for (const std::string& device : strategy_.tower_devices)
    if (elements_on_[device] < elements_on_[best]) best = device;
  elements_on_[best] += elements;
  return best;
}

Variable TowerVariables::StagedCopy(const Scope& scope, const VariableSpec& spec, int tower) {
  const Variable original = Shared(scope, spec);
  const std::string name = fmt::format("staged/tower_{}/{}", tower, VariableName(*scope.graph(), original));
  const bool is_new = scope.graph()->Find(name) == kNoNode;
  const Variable copy =
      GetVariable(scope.WithoutName(), {name, spec.dtype, spec.shape, SameAs(*scope.graph(), original.ref.node), false},
                  Reuse::kAuto);
  if (is_new) {
    staged_.push_back({copy, original});
    original_of_.emplace(copy.ref.node, original);
  }
  return copy;
}

Variable TowerVariables::Copy(const Scope& scope, const VariableSpec& spec, int tower) const {
  if (tower == 0) return GetVariable(scope, spec, Reuse::kAuto);
  const std::string name = fmt::format("{}{}", scope.variable_prefix(), spec.name);
  const NodeId first = scope.graph()->Find("v0" + name.substr(name.find('/')));
  if (first == kNoNode) return GetVariable(scope, spec, Reuse::kAuto);
  VariableSpec copy = spec;
  if (shares_untrained_ && !spec.trainable) {
    const std::string& shared = scope.graph()->node(first).name;
    copy.name = shared;
    return GetVariable(scope.WithoutName(), copy, Reuse::kAlways);
  }
  copy.initializer = SameAs(*scope.graph(), first);
  return GetVariable(scope, copy, Reuse::kAuto);
}

}  // namespace muster::train
