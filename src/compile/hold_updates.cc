// Updates run at the end of a step. Until its first update a step can end without a trace: because of a guard, or of
// Ctrl-C.

#include <algorithm>

#include "compile/after_backward.h"
#include "compile/passes.h"
#include "compile/phase.h"

namespace muster {
namespace {

// By node: whether it updates a variable, or stands for an order only, and nothing but such nodes comes after it.
std::vector<bool> ComesLast(const CompileGraph& graph, const std::vector<NodeId>& order) {
  std::vector<bool> is_last(static_cast<size_t>(graph.size()), true);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = graph.node(*it);
    const auto id = static_cast<size_t>(*it);
    is_last[id] = is_last[id] && (PhaseOf(node) == kUpdate || node.kind == OpKind::kNoOp);
    if (is_last[id]) continue;
    for (Output in : node.inputs) is_last[static_cast<size_t>(in.node)] = false;
    for (NodeId control : node.control_inputs) is_last[static_cast<size_t>(control)] = false;
  }
  return is_last;
}

}  // namespace

void HoldUpdates(CompileGraph& graph, const CompileRequest& request) {
  const std::vector<NodeId> order = graph.TopologicalOrder();
  if (order.empty()) return;
  const std::vector<bool> is_last = ComesLast(graph, order);
  const bool has_asynchronous = std::any_of(request.devices.begin(), request.devices.end(),
                                            [](const CompileDevice& d) { return d.is_asynchronous; });
  const std::vector<bool> is_from_gradient = AfterBackward(graph, order);
  // A host beside GPUs applies gradients while the next ones arrive: it would otherwise only wait.
  const auto keeps_place = [&](NodeId id) {
    return has_asynchronous && !request.devices[static_cast<size_t>(graph.device(id))].is_asynchronous &&
           is_from_gradient[static_cast<size_t>(id)];
  };
  int64_t end = 0;
  for (NodeId id : order) end = std::max(end, graph.order(id));
  for (NodeId id : order)
    if (is_last[static_cast<size_t>(id)] && !keeps_place(id)) graph.set_order(id, ++end);
}

}  // namespace muster
