#include <fmt/format.h>

#include "muster/error.h"
#include "muster/ops/math.h"
#include "muster/optimizer.h"

namespace muster {
namespace {

// 1 - min(decay, (1 + n)/(10 + n)): how far a shadow moves.
Output StepSize(const Scope& scope, double decay, Output num_updates, DType dtype) {
  const auto constant = [&](double value) { return ops::ScalarLike(scope, value, dtype); };
  if (!num_updates.is_valid()) return constant(1 - decay);
  const Output n = ops::Cast(scope, num_updates, dtype);
  const Output early = ops::Div(scope, ops::Add(scope, constant(1), n), ops::Add(scope, constant(10), n));
  return ops::Sub(scope, constant(1), ops::Minimum(scope, constant(decay), early));
}

}  // namespace

NodeId ExponentialMovingAverage::Apply(const Scope& outer, const std::vector<Variable>& variables) {
  const Scope scope = outer.WithName("ExponentialMovingAverage");
  const Graph& graph = *scope.graph();
  std::map<DType, Output> sizes;
  std::vector<NodeId> updates;
  for (const Variable& variable : variables) {
    const DType dtype = scope.dtype(variable.ref);
    if (!shadows_.contains(variable.ref.node)) {
      const Scope beside = scope.WithoutName().WithoutControlDependencies().ColocatedWith(variable.ref.node);
      const Output first = graph.node(variable.initializer).inputs[1];
      const std::string name = VariableName(graph, variable) + "/ExponentialMovingAverage";
      shadows_[variable.ref.node] = ops::MakeVariable(beside, name, first, false);
    }
    if (!sizes.contains(dtype)) sizes[dtype] = StepSize(scope, decay_, num_updates_, dtype);
    const Variable shadow = shadows_[variable.ref.node];
    const Scope inner = scope.ColocatedWith(variable.ref.node);
    const Output difference = ops::Sub(inner, shadow, variable);
    updates.push_back(ops::AssignSub(inner, shadow, ops::Mul(inner, difference, sizes[dtype])).node);
  }
  return ops::Group(outer.Named("ExponentialMovingAverage"), updates);
}

Variable ExponentialMovingAverage::Average(const Variable& variable) const {
  auto it = shadows_.find(variable.ref.node);
  if (it == shadows_.end()) throw NotFound("this variable has no moving average");
  return it->second;
}

}  // namespace muster
