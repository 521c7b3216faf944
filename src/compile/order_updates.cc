#include <map>
#include <set>

#include "compile/passes.h"
#include "graph/op_def.h"

namespace muster {
namespace {

// Everything that runs after a node, by data or control.
std::set<NodeId> After(const std::vector<std::vector<NodeId>>& next, NodeId start) {
  std::set<NodeId> after;
  std::vector<NodeId> stack{start};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    for (NodeId to : next[static_cast<size_t>(id)])
      if (after.insert(to).second) stack.push_back(to);
  }
  return after;
}

std::vector<std::vector<NodeId>> Successors(const CompileGraph& graph) {
  std::vector<std::vector<NodeId>> next(static_cast<size_t>(graph.size()));
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!graph.is_live(id)) continue;
    for (Output in : graph.node(id).inputs) next[static_cast<size_t>(in.node)].push_back(id);
    for (NodeId control : graph.node(id).control_inputs) next[static_cast<size_t>(control)].push_back(id);
  }
  return next;
}

struct Access {
  std::vector<NodeId> readers, writers;
};

// Who reads and who writes each variable's memory; a reader of an alias (Reshape of a variable) reads the variable.
std::map<NodeId, Access> Accesses(const CompileGraph& graph) {
  std::map<NodeId, Access> accesses;
  for (NodeId id : graph.TopologicalOrder()) {
    const Node& node = graph.node(id);
    const OpDef& def = GetOpDef(node.kind);
    if (def.is_alias) continue;
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const NodeId variable = graph.VariableBehind(node.inputs[static_cast<size_t>(i)]);
      if (variable == kNoNode) continue;
      Access& access = accesses[variable];
      (i < def.num_refs ? access.writers : access.readers).push_back(id);
    }
  }
  return accesses;
}

}  // namespace

void OrderUpdates(CompileGraph& graph) {
  auto next = Successors(graph);
  const auto accesses = Accesses(graph);
  // Two updates without an order of their own run in the order in which they were built.
  for (const auto& [variable, access] : accesses)
    for (size_t w = 1; w < access.writers.size(); ++w) {
      const NodeId first = access.writers[w - 1], second = access.writers[w];
      if (After(next, second).count(first) > 0) continue;
      graph.mutable_node(second).control_inputs.push_back(first);
      next[static_cast<size_t>(first)].push_back(second);
    }
  // A read comes before every update that it is not behind. What these edges imply for other variables is not taken into
  // account: where they contradict each other, no order would give every read the value it should see.
  for (const auto& [variable, access] : accesses)
    for (NodeId writer : access.writers) {
      const std::set<NodeId> after = After(next, writer);
      for (NodeId reader : access.readers)
        if (reader != writer && after.count(reader) == 0) graph.mutable_node(writer).control_inputs.push_back(reader);
    }
}

}  // namespace muster
