#include "compile/after_backward.h"

#include "compile/phase.h"

namespace muster {

std::vector<bool> AfterBackward(const CompileGraph& graph, const std::vector<NodeId>& order) {
  std::vector<bool> after(static_cast<size_t>(graph.size()), false);
  for (NodeId id : order) {
    const Node& node = graph.node(id);
    bool is_after = PhaseOf(node) == kBackward;
    for (Output in : node.inputs) is_after = is_after || after[static_cast<size_t>(in.node)];
    if (node.kind == OpKind::k_Recv)  // waits for its send
      for (NodeId send : node.control_inputs) is_after = is_after || after[static_cast<size_t>(send)];
    after[static_cast<size_t>(id)] = is_after;
  }
  return after;
}

}  // namespace muster
