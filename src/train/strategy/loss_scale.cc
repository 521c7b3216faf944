#include "train/strategy/loss_scale.h"

#include <algorithm>
#include <set>

#include "graph/conditional.h"
#include "graph/op_def.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster::train {
namespace {

// The updates among the nodes from "first" on; first values of variables are none.
std::vector<NodeId> UpdatesFrom(const Graph& graph, NodeId first) {
  std::set<NodeId> first_values;
  for (const VariableInfo& info : graph.variables()) first_values.insert(info.initializer);
  std::vector<NodeId> updates;
  for (NodeId id = first; id < graph.num_nodes(); ++id)
    if (GetOpDef(graph.node(id).kind).num_refs > 0 && first_values.count(id) == 0) updates.push_back(id);
  return updates;
}

}  // namespace

LossScale::LossScale(const Scope& scope, const LossScaling& options)
    : scope_(scope.WithoutName().WithName("loss_scaling").WithDevice("/cpu:0")), options_(options) {
  const Scope outside = scope.WithoutName().WithDevice("/cpu:0");
  scale_ = GetVariable(outside, {"loss_scale", DType::kFloat32, {}, initializers::Constant(options.initial), false});
  normal_steps_ = GetVariable(outside, {"loss_scale_normal_steps", DType::kInt32, {}, initializers::Zeros(), false});
}

// 0 x is NaN if x is not finite, and then so is any sum with it.
void LossScale::Watch(const Parts& gradients) {
  for (Output gradient : gradients) {
    const Scope beside = scope_.ColocatedWith(gradient.node);
    const Output zeros = ops::Mul(beside.Named("zeros"), gradient, ops::ScalarLike(beside, 0, scope_.dtype(gradient)));
    const Output sum = ops::Sum(beside, zeros);
    zeros_.push_back(scope_.dtype(sum) == DType::kFloat32 ? sum : ops::Cast(beside, sum, DType::kFloat32));
  }
}

Output LossScale::AllFinite() const {
  return ops::Equal(scope_.Named("all_finite"), ops::AddN(scope_, zeros_), ops::Scalar<float>(scope_, 0));
}

void LossScale::Guard(const std::function<void()>& apply, std::vector<NodeId>* step) {
  if (zeros_.empty()) return apply();
  Graph* graph = scope_.graph();
  const Output finite = AllFinite();
  const NodeId first = graph->num_nodes();
  apply();
  for (NodeId update : UpdatesFrom(*graph, first)) MakeConditional(graph, update, finite);
  Change(finite, step);
}

void LossScale::Change(Output finite, std::vector<NodeId>* step) const {
  const Scope& s = scope_;
  const Output zero = ops::Scalar<int32_t>(s, 0), one = ops::Scalar<int32_t>(s, 1);
  const Output half = ops::Scalar<float>(s, 0.5f), two = ops::Scalar<float>(s, 2);
  const int64_t most = std::min<int64_t>(options_.increase_every, INT32_MAX);
  const Output goes_on = ops::Less(s, normal_steps_, ops::Scalar<int32_t>(s, static_cast<int32_t>(most)));
  const Output grown = ops::Select(s, goes_on, scale_, ops::Mul(s, scale_, two));
  const Output counted = ops::Select(s, goes_on, ops::Add(s, normal_steps_, one), zero);
  step->push_back(
      ops::Assign(s.Named("assign_scale"), scale_, ops::Select(s, finite, grown, ops::Mul(s, scale_, half))).node);
  step->push_back(
      ops::Assign(s.Named("assign_normal_steps"), normal_steps_, ops::Select(s, finite, counted, zero)).node);
}

}  // namespace muster::train
