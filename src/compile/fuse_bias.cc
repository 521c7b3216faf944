#include "compile/passes.h"

namespace muster {
namespace {

class BiasFuser {
 public:
  BiasFuser(CompileGraph& graph, const CompileRequest& request) : graph_(graph), request_(request) {}

  void Run() {
    const int size = graph_.size();  // nodes made here are not looked at again
    for (NodeId id = 0; id < size; ++id) {
      if (!graph_.is_live(id)) continue;
      if (graph_.node(id).kind == OpKind::kBiasAdd) FuseForward(id);
      else if (graph_.node(id).kind == OpKind::kBiasAddGrad) FuseBackward(id);
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
    return graph_.NumReaders(o) == 1 && !graph_.IsFetched(o) ? graph_.Readers(o)[0].node : kNoNode;
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
    if (!graph_.MayFuse({producer, bias_add})) return;

    std::vector<NodeId> members{producer, bias_add};
    Attrs attrs = source.attrs;
    const NodeId reader = OnlyReader({bias_add, 0});
    if (reader != kNoNode && graph_.node(reader).kind == OpKind::kRelu && graph_.MayFuse({bias_add, reader})) {
      members.push_back(reader);
      if (is_conv) attrs.get<ConvAttrs>().activation = Activation::kRelu;
      else attrs.get<MatMulAttrs>().activation = Activation::kRelu;
    }
    const NodeId last = members.back();
    const NodeId fused = graph_.Add(fused_kind, graph_.node(last).name,
                                    {source.inputs[0], source.inputs[1], bias.inputs[1]}, std::move(attrs), last);
    graph_.ReplaceUses({last, 0}, {fused, 0});
    graph_.ReplaceMembers(members, fused);
  }

  // BiasAddGrad(dy) beside Conv2DBackpropFilter(x, dy): one sweep over dy gives both.
  void FuseBackward(NodeId bias_grad) {
    for (const Use& use : graph_.Readers(graph_.node(bias_grad).inputs[0])) {
      const Node filter = graph_.node(use.node);
      if (filter.kind != OpKind::kConv2DBackpropFilter || use.input != 1) continue;
      if (!Supported(OpKind::k_FusedConv2DBackpropFilter, use.node) || !graph_.MayFuse({use.node, bias_grad})) return;
      const NodeId fused =
          graph_.Add(OpKind::k_FusedConv2DBackpropFilter, filter.name, filter.inputs, filter.attrs, use.node);
      graph_.ReplaceUses({use.node, 0}, {fused, 0});
      graph_.ReplaceUses({bias_grad, 0}, {fused, 1});
      graph_.ReplaceMembers({use.node, bias_grad}, fused);
      return;
    }
  }

  CompileGraph& graph_;
  const CompileRequest& request_;
};

}  // namespace

void FuseBias(CompileGraph& graph, const CompileRequest& request) { BiasFuser(graph, request).Run(); }

}  // namespace muster
