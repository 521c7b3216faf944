#include "compile/passes.h"

namespace muster {
namespace {

class MaxPoolFuser {
 public:
  MaxPoolFuser(CompileGraph& graph, const CompileRequest& request) : graph_(graph), request_(request) {}

  void Run() {
    const int size = graph_.size();
    for (NodeId id = 0; id < size; ++id)
      if (graph_.is_live(id) && graph_.node(id).kind == OpKind::kReluGrad) Fuse(id);
    graph_.RemoveUnused();
  }

 private:
  // ReluGrad(MaxPoolGrad(y, pooled, dy), y), where y is the ReLU's output and so the pool's input.
  void Fuse(NodeId relu_grad) {
    const Node mask = graph_.node(relu_grad);
    const NodeId pool_grad = mask.inputs[0].node;
    const Node pool = graph_.node(pool_grad);
    if (pool.kind != OpKind::kMaxPoolGrad || !(pool.inputs[0] == mask.inputs[1])) return;
    if (graph_.IsFetched({pool_grad, 0}) || graph_.NumReaders({pool_grad, 0}) != 1 ||
        !graph_.MayFuse({pool_grad, relu_grad}))
      return;
    const CompileDevice& device = request_.devices[static_cast<size_t>(graph_.device(relu_grad))];
    if (device.kernels->Find(OpKind::k_MaxPoolReluGrad, pool.outputs[0].dtype) == nullptr) return;
    const NodeId fused = graph_.Add(OpKind::k_MaxPoolReluGrad, mask.name, pool.inputs, pool.attrs, relu_grad);
    graph_.ReplaceUses({relu_grad, 0}, {fused, 0});
    graph_.ReplaceMembers({pool_grad, relu_grad}, fused);
  }

  CompileGraph& graph_;
  const CompileRequest& request_;
};

}  // namespace

void FuseMaxPool(CompileGraph& graph, const CompileRequest& request) { MaxPoolFuser(graph, request).Run(); }

}  // namespace muster
