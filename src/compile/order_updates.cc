#include <algorithm>
#include <map>
#include <set>

#include "compile/passes.h"
#include "graph/op_def.h"

namespace muster {
namespace {

// What runs after a node, by data or control, as far as nothing behind position "last" of the schedule matters.
std::set<NodeId> After(const std::vector<std::vector<NodeId>>& next, const std::vector<int>& position, NodeId start,
                       int last) {
  std::set<NodeId> after;
  std::vector<NodeId> stack{start};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    for (NodeId to : next[static_cast<size_t>(id)])
      if (position[static_cast<size_t>(to)] <= last && after.insert(to).second) stack.push_back(to);
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

// Who reads and who writes each variable's memory, as scheduled; a reader of an alias (Reshape of a variable) reads the
// variable.
std::map<NodeId, Access> Accesses(const CompileGraph& graph, const std::vector<NodeId>& order) {
  std::map<NodeId, Access> accesses;
  for (NodeId id : order) {
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
  const std::vector<NodeId> order = graph.TopologicalOrder();
  std::vector<int> position(static_cast<size_t>(graph.size()), -1);
  for (size_t i = 0; i < order.size(); ++i) position[static_cast<size_t>(order[i])] = static_cast<int>(i);
  auto next = Successors(graph);
  const auto accesses = Accesses(graph, order);
  // Two updates without an order of their own run as they are scheduled, which is the order in which they were built.
  for (const auto& [variable, access] : accesses)
    for (size_t w = 1; w < access.writers.size(); ++w) {
      const NodeId first = access.writers[w - 1], second = access.writers[w];
      graph.AddControlInput(second, first);
      next[static_cast<size_t>(first)].push_back(second);
    }
  // A read comes before every update that it is not behind. What these edges imply for other variables is not taken
  // into account: where they contradict each other, no order would give every read the value it should see.
  for (const auto& [variable, access] : accesses) {
    // what is scheduled before an update is not behind it, so that most often there is nothing to search
    int last = -1;
    for (NodeId reader : access.readers) last = std::max(last, position[static_cast<size_t>(reader)]);
    for (NodeId writer : access.writers) {
      const std::set<NodeId> after = After(next, position, writer, last);
      graph.CountWork(static_cast<int64_t>(after.size() + access.readers.size()));
      for (NodeId reader : access.readers)
        if (reader != writer && after.count(reader) == 0) graph.AddControlInput(writer, reader);
    }
  }
}

}  // namespace muster
