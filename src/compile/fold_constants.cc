#include <algorithm>

#include "compile/passes.h"
#include "graph/op_def.h"

namespace muster {
namespace {

constexpr int64_t kLargestFoldedBytes = 64 << 10;

bool IsFoldable(const CompileGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const OpDef& def = GetOpDef(node.kind);
  if (node.kind == OpKind::kConst || def.is_stateful || def.num_refs > 0 || node.outputs.empty()) return false;
  if (!node.control_inputs.empty()) return false;
  for (const TensorDesc& d : node.outputs)
    if (d.byte_size() > kLargestFoldedBytes) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](Output in) { return graph.node(in.node).kind == OpKind::kConst; });
}

// Runs the node once on the host. The device's own kernels are used, so folding never changes a result.
std::vector<Tensor> Evaluate(const CompileGraph& graph, NodeId id, const CompileDevice& device) {
  const Node& node = graph.node(id);
  std::vector<Tensor> results;
  for (const TensorDesc& d : node.outputs) results.emplace_back(d.dtype, d.shape);
  if (GetOpDef(node.kind).is_alias) {
    const Tensor& input = graph.node(node.inputs[0].node).attr<ConstAttrs>().value;
    std::memcpy(results[0].raw(), input.raw(), input.byte_size());
    return results;
  }
  PreparedKernel prepared = FindRow(graph, id, device)->prepare(RequestFor(graph, id), device.caps);
  Tensor workspace(DType::kUInt8, Shape{prepared.workspace_bytes});
  std::vector<void*> inputs, outputs;
  for (Output in : node.inputs) inputs.push_back(graph.node(in.node).attr<ConstAttrs>().value.raw());
  for (Tensor& result : results) outputs.push_back(result.raw());
  prepared.kernel->Launch({inputs.data(), outputs.data(), workspace.raw(), 0, nullptr});
  return results;
}

}  // namespace

void FoldConstants(CompileGraph& graph, const CompileRequest& request) {
  for (NodeId id : graph.TopologicalOrder()) {
    if (!IsFoldable(graph, id)) continue;
    const CompileDevice& device = request.devices[static_cast<size_t>(graph.device(id))];
    if (device.name.type != "CPU") continue;
    const std::vector<Tensor> results = Evaluate(graph, id, device);
    for (size_t i = 0; i < results.size(); ++i) {
      const NodeId folded = graph.Add(OpKind::kConst, graph.node(id).name, {}, ConstAttrs{results[i]}, id);
      graph.ReplaceUses({id, static_cast<int>(i)}, {folded, 0});
      if (i == 0) graph.MoveControlUses(id, folded);
    }
    graph.Remove(id);
  }
  graph.RemoveUnused();
}

}  // namespace muster
