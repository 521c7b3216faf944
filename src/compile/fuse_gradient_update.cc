#include "compile/passes.h"
#include "compile/update_ops.h"
#include "graph/op_def.h"
#include "plan/conditional_kernel.h"

namespace muster {
namespace {

class GradientUpdateFuser {
 public:
  GradientUpdateFuser(CompileGraph& graph, const CompileRequest& request)
      : graph_(graph), request_(request), uses_(graph.Uses()), is_awaited_(static_cast<size_t>(graph.size())) {
    for (NodeId id = 0; id < graph.size(); ++id)
      if (graph.is_live(id))
        for (NodeId control : graph.node(id).control_inputs) is_awaited_[static_cast<size_t>(control)] = true;
  }

  void Run() {
    const int size = graph_.size();
    for (NodeId id = 0; id < size; ++id)
      if (graph_.is_live(id) && graph_.node(id).kind == OpKind::kApplyGradientDescent) Fuse(id);
    graph_.RemoveUnused();
  }

 private:
  // Whether a value is the memory of a variable that an update writes: it could be read too late.
  bool IsUpdated(Output value) const {
    const NodeId variable = graph_.VariableBehind(value);
    if (variable == kNoNode) return false;
    for (const Use& use : uses_[static_cast<size_t>(variable)][0])
      if (use.input < GetOpDef(graph_.node(use.node).kind).num_refs) return true;
    return false;
  }

  // Whether the node is x^T dy, read by the update alone. Where the user ordered one of them before or behind something
  // else, one node for both could end up waiting for itself.
  bool IsGradient(NodeId product, NodeId update) const {
    const Node& node = graph_.node(product);
    if (node.kind != OpKind::kMatMul || node.attr<MatMulAttrs>() != MatMulAttrs{.transpose_a = true}) return false;
    return uses_[static_cast<size_t>(product)][0].size() == 1 && !graph_.IsFetched({product, 0}) &&
           graph_.MayFuse({product, update}) && !is_awaited_[static_cast<size_t>(product)] &&
           !IsUpdated(node.inputs[0]) && !IsUpdated(node.inputs[1]);
  }

  // Whether the device computes the fused node, and gains by it: kernels that have a form of the weights of their own
  // wish for it where they do.
  bool IsWanted(const std::vector<Output>& inputs, const Attrs& attrs, NodeId update) const {
    const CompileDevice& device = request_.devices[static_cast<size_t>(graph_.device(update))];
    KernelRequest request{.kind = OpKind::k_MatMulApplyGradientDescent, .attrs = &attrs};
    for (Output input : inputs) request.inputs.push_back(graph_.desc(input));
    // A float32 gradient of half-precision factors is not made tile by tile.
    for (const TensorDesc& input : request.inputs)
      if (input.dtype != request.inputs[0].dtype) return false;
    request.outputs = {request.inputs[0]};
    const KernelRow* row = device.kernels->Find(request.kind, KernelDType(request));
    return row != nullptr && (row->layout == nullptr || !row->layout(request, device.caps).inputs[0].is_plain());
  }

  void Fuse(NodeId update) {
    const Node old = graph_.node(update);
    if (IsConditional(RequestFor(graph_, update))) return;  // the gradient decides
    const NodeId product = old.inputs[static_cast<size_t>(GradientInputOf(old.kind))].node;
    if (!IsGradient(product, update)) return;
    const Node& gradient = graph_.node(product);
    std::vector<Output> inputs{old.inputs[0], old.inputs[1], gradient.inputs[0], gradient.inputs[1]};
    if (old.attr<ApplyAttrs>().has_weight_decay) inputs.push_back(old.inputs.back());
    if (!IsWanted(inputs, old.attrs, update)) return;
    const NodeId fused =
        graph_.Add(OpKind::k_MatMulApplyGradientDescent, old.name, std::move(inputs), old.attrs, update);
    graph_.ReplaceUses({update, 0}, {fused, 0});
    graph_.ReplaceMembers({update, product}, fused);
  }

  CompileGraph& graph_;
  const CompileRequest& request_;
  const std::vector<std::vector<std::vector<Use>>> uses_;  // before this pass
  std::vector<bool> is_awaited_;                           // by node: something has a control edge from it
};

}  // namespace

void FuseGradientUpdate(CompileGraph& graph, const CompileRequest& request) {
  GradientUpdateFuser(graph, request).Run();
}

}  // namespace muster
