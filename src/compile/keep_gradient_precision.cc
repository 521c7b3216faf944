#include "compile/passes.h"

namespace muster {
namespace {

// Sums over many products, whose bfloat16 kernels add in float32 and can hand that out.
bool AddsInFloat32(OpKind kind) {
  switch (kind) {
    // clang-format off
    case OpKind::kConv2DBackpropFilter: case OpKind::k_FusedConv2DBackpropFilter:
    case OpKind::kDepthwiseConv2dNativeBackpropFilter: case OpKind::kMatMul: case OpKind::k_FusedMatMul:
    case OpKind::kBiasAddGrad:
      // clang-format on
      return true;
    default: return false;
  }
}

}  // namespace

void KeepGradientPrecision(CompileGraph& graph) {
  const int size = graph.size();
  for (NodeId id = 0; id < size; ++id) {
    if (!graph.is_live(id) || graph.node(id).kind != OpKind::kCast || graph.desc({id, 0}).dtype != DType::kFloat32)
      continue;
    const Output sum = graph.node(id).inputs[0];
    const bool is_sum = AddsInFloat32(graph.node(sum.node).kind) && graph.desc(sum).dtype == DType::kBFloat16;
    if (!is_sum || graph.IsFetched(sum) || graph.NumReaders(sum) != 1 || !graph.MayFuse({sum.node, id})) continue;
    graph.mutable_desc(sum).dtype = DType::kFloat32;
    graph.ReplaceUses({id, 0}, sum);
    graph.MoveControlUses(id, sum.node);
    graph.Remove(id);
  }
  graph.RemoveUnused();
}

}  // namespace muster
