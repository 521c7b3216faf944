#include "compile/passes.h"
#include "graph/op_def.h"

namespace muster {
namespace {

bool IsIdentity(OpKind kind) { return kind == OpKind::kIdentity || kind == OpKind::kStopGradient; }

// An Identity on another device than its input is a stop on the way of a value, which its readers take it from. (A
// variable is read where it lives, when its reader runs.)
bool IsStop(const CompileGraph& graph, NodeId id) {
  const Output input = graph.node(id).inputs[0];
  return graph.device(id) != graph.device(input.node) && graph.VariableBehind(input) == kNoNode;
}

// A fetched variable must be copied at its place in the order of reads and updates: its memory goes on changing.
void SnapshotFetchedVariables(CompileGraph& graph) {
  for (size_t i = 0; i < graph.fetches().size(); ++i) {
    const Output fetch = graph.fetches()[i];
    if (graph.VariableBehind(fetch) == kNoNode) continue;
    const Node& source = graph.node(fetch.node);
    const NodeId copy = graph.Add(OpKind::k_Snapshot, source.name + "/fetch", {fetch}, NoAttrs{}, fetch.node, false);
    graph.SetFetch(i, {copy, 0});
  }
}

}  // namespace

void ForwardIdentities(CompileGraph& graph) {
  SnapshotFetchedVariables(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!graph.is_live(id) || !IsIdentity(graph.node(id).kind)) continue;
    // With control inputs it is a read at a given moment: keep it, as a copy.
    if (!graph.node(id).control_inputs.empty()) {
      graph.set_kind(id, OpKind::k_Snapshot);
      continue;
    }
    if (IsStop(graph, id)) continue;
    const Output input = graph.node(id).inputs[0];
    graph.ReplaceUses({id, 0}, input);
    graph.MoveControlUses(id, input.node);
    graph.Remove(id);
  }
  graph.RemoveUnused();
}

}  // namespace muster
