#include "muster/variables.h"

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {

Variable Existing(const Graph& graph, NodeId node, const VariableSpec& spec) {
  const VariableInfo* info = graph.FindVariable(node);
  const std::string& name = graph.node(node).name;
  if (info == nullptr) throw InvalidArgument(fmt::format("{} is an operation, not a variable", name));
  const TensorDesc& desc = graph.desc(info->ref);
  if (desc.dtype != spec.dtype || !(desc.shape == spec.shape))
    throw InvalidArgument(fmt::format("variable {} is {}, but {} is asked for", name, desc.ToString(),
                                      TensorDesc{spec.dtype, spec.shape, {}}.ToString()));
  return {info->ref, info->initializer};
}

}  // namespace

Variable GetVariable(const Scope& scope, const VariableSpec& spec, Reuse reuse) {
  const std::string name = scope.variable_prefix() + std::string(spec.name);
  const NodeId node = scope.graph()->Find(name);
  if (node != kNoNode && reuse != Reuse::kNever) return Existing(*scope.graph(), node, spec);
  if (node == kNoNode && reuse == Reuse::kAlways) throw NotFound(fmt::format("there is no variable {} to share", name));
  if (node != kNoNode) throw Error(Code::kAlreadyExists, fmt::format("variable {} already exists in this graph", name));
  // The first value must not depend on who asks first: neither on the operation scopes around it nor on what they
  // wait for.
  const Scope initial = scope.WithoutName().WithoutControlDependencies().WithName(name + "/Initializer");
  return ops::MakeVariable(scope, spec.name, spec.initializer(initial, spec.dtype, spec.shape), spec.trainable);
}

std::vector<Variable> TrainableVariables(const Graph& graph) {
  std::vector<Variable> variables;
  for (const VariableInfo& info : graph.variables())
    if (info.trainable) variables.push_back({info.ref, info.initializer});
  return variables;
}

const std::string& VariableName(const Graph& graph, const Variable& variable) {
  return graph.node(variable.ref.node).name;
}

Variable GlobalStep(const Scope& scope) {
  return GetVariable(scope.WithoutName(), {"global_step", DType::kInt64, {}, initializers::Zeros(), false},
                     Reuse::kAuto);
}

}  // namespace muster
