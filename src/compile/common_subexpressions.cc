#include <algorithm>
#include <map>
#include <tuple>

#include "compile/passes.h"
#include "graph/op_def.h"

namespace muster {
namespace {

using Key = std::tuple<OpKind, int, std::vector<Output>>;  // operation, device, inputs

bool MayShare(const CompileGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (GetOpDef(node.kind).is_stateful || GetOpDef(node.kind).num_refs > 0 || !node.control_inputs.empty()) return false;
  if (node.kind == OpKind::k_Snapshot) return false;
  // A value read from a variable may change between two reads.
  return std::none_of(node.inputs.begin(), node.inputs.end(), [&](Output in) {
    return graph.node(in.node).kind != OpKind::kVariable && graph.VariableBehind(in) != kNoNode;
  });
}

// Comparing large constants costs more than it saves.
bool IsLargeConstant(const Node& node) {
  return node.kind == OpKind::kConst && node.attr<ConstAttrs>().value.byte_size() > 1024;
}

}  // namespace

void ShareCommonSubexpressions(CompileGraph& graph) {
  std::map<Key, std::vector<NodeId>> seen;
  for (NodeId id : graph.TopologicalOrder()) {
    const Node& node = graph.node(id);
    if (!MayShare(graph, id) || IsLargeConstant(node)) continue;
    std::vector<NodeId>& candidates = seen[{node.kind, graph.device(id), node.inputs}];
    auto same = std::find_if(candidates.begin(), candidates.end(), [&](NodeId other) {
      return graph.node(other).attrs == node.attrs && graph.node(other).outputs == node.outputs;
    });
    if (same == candidates.end()) {
      candidates.push_back(id);
      continue;
    }
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) graph.ReplaceUses({id, i}, {*same, i});
    graph.MoveControlUses(id, *same);
    graph.Remove(id);
  }
}

}  // namespace muster
