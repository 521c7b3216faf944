#include <algorithm>
#include <array>

#include "compile/passes.h"

namespace muster {
namespace {

class BatchNormFuser {
 public:
  BatchNormFuser(CompileGraph& graph, const CompileRequest& request) : graph_(graph), request_(request) {}

  void Run() {
    const int size = graph_.size();
    for (NodeId id = 0; id < size; ++id)
      if (graph_.is_live(id) && graph_.node(id).kind == OpKind::kRelu) FuseForward(id);
    graph_.RemoveUnused();
  }

 private:
  bool HasOnlyReader(Output o, NodeId reader) const {
    return !graph_.IsFetched(o) && graph_.NumReaders(o) == 1 && graph_.Readers(o)[0].node == reader;
  }

  // Whether the node's device has this kernel for the node's dtype.
  bool HasKernel(OpKind kind, NodeId id) const {
    return request_.devices[static_cast<size_t>(graph_.device(id))].kernels->Find(
               kind, graph_.node(id).outputs[0].dtype) != nullptr;
  }

  bool IsFusable(Output o, NodeId reader) const {
    return graph_.node(o.node).kind == OpKind::kFusedBatchNorm && o.index == 0 && HasOnlyReader(o, reader) &&
           graph_.MayFuse({o.node, reader}) && HasKernel(OpKind::k_FusedBatchNormEx, o.node);
  }

  // relu(bn(x)) or relu(bn(x) + side).
  void FuseForward(NodeId relu) {
    const Output x = graph_.node(relu).inputs[0];
    if (IsFusable(x, relu)) return Fuse(x.node, relu, Output{});
    const Node add = graph_.node(x.node);
    if (add.kind != OpKind::kAdd || !HasOnlyReader(x, relu) || !graph_.MayFuse({x.node, relu})) return;
    // When both terms are batch norms, the later one takes the other as its side input.
    std::array<int, 2> order{0, 1};
    if (graph_.order(add.inputs[0].node) < graph_.order(add.inputs[1].node)) std::swap(order[0], order[1]);
    for (int i : order) {
      const Output term = add.inputs[static_cast<size_t>(i)], side = add.inputs[static_cast<size_t>(1 - i)];
      if (!(term == side) && graph_.desc(term).shape == graph_.desc(side).shape && IsFusable(term, x.node))
        return Fuse(term.node, relu, side, x.node);
    }
  }

  void Fuse(NodeId norm, NodeId relu, Output side, NodeId add = kNoNode) {
    const Node old = graph_.node(norm);
    BatchNormAttrs attrs = old.attr<BatchNormAttrs>();
    attrs.activation = Activation::kRelu;
    attrs.has_side_input = side.is_valid();
    std::vector<Output> inputs = old.inputs;
    if (side.is_valid()) inputs.push_back(side);
    const NodeId fused = graph_.Add(OpKind::k_FusedBatchNormEx, old.name, std::move(inputs), attrs, relu);
    graph_.ReplaceUses({relu, 0}, {fused, 0});
    for (int i = 1; i < static_cast<int>(old.outputs.size()); ++i) graph_.ReplaceUses({norm, i}, {fused, i});
    std::vector<NodeId> members{norm, relu};
    if (add != kNoNode) members.push_back(add);
    graph_.ReplaceMembers(members, fused);
    FuseBackward(fused);
  }

  // ReluGrad(dy, y) feeding FusedBatchNormGrad of the same batch norm: the mask is applied on the way.
  void FuseBackward(NodeId fused) {
    const Output y{fused, 0}, saved_mean{fused, 3};
    NodeId relu_grad = kNoNode, norm_grad = kNoNode;
    for (const Use& use : graph_.Readers(y))
      if (graph_.node(use.node).kind == OpKind::kReluGrad && use.input == 1) relu_grad = use.node;
    for (const Use& use : graph_.Readers(saved_mean))
      if (graph_.node(use.node).kind == OpKind::kFusedBatchNormGrad) norm_grad = use.node;
    if (relu_grad == kNoNode || norm_grad == kNoNode) return;
    const Node grad = graph_.node(norm_grad);
    if (!(grad.inputs[0] == Output{relu_grad, 0}) || graph_.IsFetched({relu_grad, 0}) ||
        !graph_.MayFuse({relu_grad, norm_grad}))
      return;

    const bool mask_is_shared = !HasOnlyReader({relu_grad, 0}, norm_grad);
    BatchNormAttrs attrs = grad.attr<BatchNormAttrs>();
    attrs.activation = Activation::kRelu;
    const Node forward = graph_.node(fused);
    // A side input of the forward pass took part in the mask, so the mask cannot be found again from x alone.
    attrs.has_side_input = mask_is_shared || forward.attr<BatchNormAttrs>().has_side_input;
    // Without a side input kernels find the mask from x. So y need not be kept for them: offset stands in its place.
    const Output dy = graph_.node(relu_grad).inputs[0];
    std::vector<Output> inputs{dy,
                               grad.inputs[1],
                               grad.inputs[2],
                               grad.inputs[3],
                               grad.inputs[4],
                               forward.inputs[2],
                               attrs.has_side_input ? y : forward.inputs[2]};
    std::vector<NodeId> members{norm_grad, relu_grad};
    if (IsSumOfTwo(dy, relu_grad)) {
      const Node& sum = graph_.node(dy.node);
      inputs[0] = sum.inputs[0];
      inputs.push_back(sum.inputs[1]);
      members.push_back(dy.node);
    }
    const NodeId made = graph_.Add(OpKind::k_FusedBatchNormGradEx, grad.name, std::move(inputs), attrs, norm_grad);
    for (int i = 0; i < 3; ++i) graph_.ReplaceUses({norm_grad, i}, {made, i});
    if (mask_is_shared) graph_.ReplaceUses({relu_grad, 0}, {made, 3});
    graph_.ReplaceMembers(members, made);
  }

  // The gradient of an output that two read, as in a residual network: added up on the way as well.
  bool IsSumOfTwo(Output dy, NodeId reader) const {
    const Node& sum = graph_.node(dy.node);
    return sum.kind == OpKind::kAddN && sum.inputs.size() == 2 && HasOnlyReader(dy, reader) &&
           graph_.MayFuse({reader, dy.node});
  }

  CompileGraph& graph_;
  const CompileRequest& request_;
};

}  // namespace

void FuseBatchNorm(CompileGraph& graph, const CompileRequest& request) { BatchNormFuser(graph, request).Run(); }

}  // namespace muster
