#include "compile/passes.h"

namespace muster {
namespace {

using UseTable = std::vector<std::vector<std::vector<Use>>>;

class BiasFuser {
 public:
  BiasFuser(CompileGraph& graph, const CompileRequest& request) : graph_(graph), request_(request) {}

  void Run() {
    uses_ = graph_.Uses();
    const int size = graph_.size();  // nodes made here are not looked at again
    for (NodeId id = 0; id < size; ++id) {
      if (!graph_.is_live(id)) continue;
      const Node& node = graph_.node(id);
      if (node.kind == OpKind::kBiasAdd) FuseForward(id);
      if (node.kind == OpKind::kBiasAddGrad) FuseBackward(id);
    }
    graph_.RemoveUnused();
  }

 private:
  bool Supported(OpKind kind, NodeId like) const {
    const CompileDevice& device = request_.devices[static_cast<size_t>(graph_.device(like))];
    return device.kernels->Find(kind, graph_.node(like).outputs[0].dtype) != nullptr;
  }

  // The only reader of an output, or kNoNode if there are several, none, or a fetch.
  NodeId OnlyReader(Output o) const {
    if (graph_.IsFetched(o)) return kNoNode;
    NodeId reader = kNoNode;
    for (const Use& use : uses_[static_cast<size_t>(o.node)][static_cast<size_t>(o.index)]) {
      if (!graph_.is_live(use.node)) continue;
      if (reader != kNoNode) return kNoNode;
      reader = use.node;
    }
    return reader;
  }

  // Conv2D or MatMul, then BiasAdd, then perhaps Relu.
  void FuseForward(NodeId bias_add) {
    const Node bias = graph_.node(bias_add);
    const NodeId producer = bias.inputs[0].node;
    const Node source = graph_.node(producer);
    const bool is_conv = source.kind == OpKind::kConv2D;
    if (!is_conv && source.kind != OpKind::kMatMul) return;
    const OpKind fused_kind = is_conv ? OpKind::k_FusedConv2D : OpKind::k_FusedMatMul;
    if (OnlyReader({producer, 0}) != bias_add || !Supported(fused_kind, producer)) return;

    NodeId last = bias_add;
    Activation activation = Activation::kNone;
    const NodeId reader = OnlyReader({bias_add, 0});
    if (reader != kNoNode && graph_.node(reader).kind == OpKind::kRelu) {
      last = reader;
      activation = Activation::kRelu;
    }
    Attrs attrs = source.attrs;
    if (is_conv) std::get<ConvAttrs>(attrs).activation = activation;
    else std::get<MatMulAttrs>(attrs).activation = activation;
    const NodeId fused = graph_.Add(fused_kind, graph_.node(last).name, {source.inputs[0], source.inputs[1], bias.inputs[1]},
                                    std::move(attrs), last);
    graph_.ReplaceUses({last, 0}, {fused, 0});
    for (NodeId id : {producer, bias_add, last}) graph_.MoveControlUses(id, fused);
    uses_.resize(static_cast<size_t>(graph_.size()));
    uses_[static_cast<size_t>(fused)] = {uses_[static_cast<size_t>(last)][0]};
    for (NodeId id : {producer, bias_add, last}) graph_.Remove(id);
  }

  // BiasAddGrad(dy) beside Conv2DBackpropFilter(x, dy): one sweep over dy gives both.
  void FuseBackward(NodeId bias_grad) {
    const Output dy = graph_.node(bias_grad).inputs[0];
    for (const Use& use : uses_[static_cast<size_t>(dy.node)][static_cast<size_t>(dy.index)]) {
      if (!graph_.is_live(use.node)) continue;
      const Node filter = graph_.node(use.node);
      if (filter.kind != OpKind::kConv2DBackpropFilter || use.input != 1) continue;
      if (!Supported(OpKind::k_FusedConv2DBackpropFilter, use.node)) return;
      const NodeId fused = graph_.Add(OpKind::k_FusedConv2DBackpropFilter, filter.name, filter.inputs, filter.attrs, use.node);
      graph_.ReplaceUses({use.node, 0}, {fused, 0});
      graph_.ReplaceUses({bias_grad, 0}, {fused, 1});
      for (NodeId id : {use.node, bias_grad}) {
        graph_.MoveControlUses(id, fused);
        graph_.Remove(id);
      }
      uses_.resize(static_cast<size_t>(graph_.size()));
      return;
    }
  }

  CompileGraph& graph_;
  const CompileRequest& request_;
  UseTable uses_;
};

}  // namespace

void FuseBias(CompileGraph& graph, const CompileRequest& request) { BiasFuser(graph, request).Run(); }

}  // namespace muster
