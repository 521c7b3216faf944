#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compile/passes.h"
#include "muster/error.h"

namespace muster {
namespace {

using Members = std::vector<NodeId>;  // by rank

std::map<std::string, Members> FindInstances(const CompileGraph& graph) {
  std::map<std::string, Members> instances;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (!graph.is_live(id) || node.kind != OpKind::kCollectiveReduce) continue;
    const auto& attrs = node.attr<CollectiveAttrs>();
    Members& members = instances[attrs.instance];
    members.resize(std::max(members.size(), static_cast<size_t>(attrs.size)), kNoNode);
    NodeId& member = members[static_cast<size_t>(attrs.rank)];
    if (member != kNoNode)
      throw InvalidArgument(
          fmt::format("{} and {} have one rank of the sum {}", graph.node(member).name, node.name, attrs.instance));
    member = id;
  }
  return instances;
}

void Check(const CompileGraph& graph, const std::string& instance, const Members& members) {
  const auto missing = std::find(members.begin(), members.end(), kNoNode);
  if (missing != members.end())
    throw InvalidArgument(
        fmt::format("the sum {} has {} terms, but nothing has rank {}: all towers must be built alike", instance,
                    members.size(), missing - members.begin()));
  const Node& first = graph.node(members[0]);
  for (NodeId id : members) {
    const Node& node = graph.node(id);
    const auto &a = first.attr<CollectiveAttrs>(), &b = node.attr<CollectiveAttrs>();
    if (a.size != b.size || a.scale != b.scale || !(node.outputs[0] == first.outputs[0]))
      throw InvalidArgument(fmt::format("{} and {} differ in size, scale or shape, and cannot be terms of one sum",
                                        first.name, node.name));
  }
}

// On the device of one member, each in turn, so that all have as much to add.
void Join(CompileGraph& graph, const Members& members, size_t turn) {
  const NodeId root = members[turn % members.size()];
  const auto attrs = graph.node(members[0]).attr<CollectiveAttrs>();
  std::vector<Output> terms;
  for (NodeId id : members) terms.push_back(graph.node(id).inputs[0]);
  Output sum = terms.size() == 1
                   ? terms[0]
                   : Output{graph.Add(OpKind::kAddN, graph.node(root).name + "/sum", terms, NoAttrs{}, root), 0};
  if (attrs.scale != 1) {
    Tensor factor = graph.desc(sum).dtype == DType::kFloat64 ? Tensor::Scalar<double>(attrs.scale)
                                                             : Tensor::Scalar<float>(static_cast<float>(attrs.scale));
    const NodeId scale =
        graph.Add(OpKind::kConst, graph.node(root).name + "/scale", {}, ConstAttrs{std::move(factor)}, root);
    sum = {graph.Add(OpKind::kMul, graph.node(root).name + "/scaled", {sum, {scale, 0}}, NoAttrs{}, root), 0};
  }
  for (NodeId id : members) {
    graph.ReplaceUses({id, 0}, sum);
    graph.MoveControlUses(id, sum.node);
    graph.Remove(id);
  }
}

}  // namespace

void JoinCollectives(CompileGraph& graph) {
  size_t turn = 0;
  for (const auto& [instance, members] : FindInstances(graph)) {
    Check(graph, instance, members);
    Join(graph, members, turn++);
  }
}

}  // namespace muster
