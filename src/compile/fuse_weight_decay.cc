#include "compile/passes.h"

namespace muster {
namespace {

// Which input of an update is the gradient; -1 for kinds that have no fused form.
int GradientInput(OpKind kind) {
  switch (kind) {
    case OpKind::kApplyGradientDescent: return 2;
    case OpKind::kApplyMomentum: return 3;
    case OpKind::kApplyRMSProp: return 7;
    case OpKind::kApplyAdam: return 9;
    default: return -1;
  }
}

class DecayFuser {
 public:
  explicit DecayFuser(CompileGraph& graph) : graph_(graph), uses_(graph.Uses()) {}

  void Run() {
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (graph_.is_live(id) && GradientInput(graph_.node(id).kind) >= 0) Fuse(id);
    graph_.RemoveUnused();
  }

 private:
  bool IsReadOnce(Output o) const {
    return uses_[static_cast<size_t>(o.node)][static_cast<size_t>(o.index)].size() == 1 && !graph_.IsFetched(o);
  }

  // The scalar s if "term" is variable * s, else invalid.
  Output Decay(Output term, Output variable) const {
    const Node& mul = graph_.node(term.node);
    if (mul.kind != OpKind::kMul || !IsReadOnce(term)) return {};
    for (int i : {0, 1}) {
      const Output other = mul.inputs[static_cast<size_t>(1 - i)];
      if (mul.inputs[static_cast<size_t>(i)] == variable && graph_.desc(other).shape.rank() == 0) return other;
    }
    return {};
  }

  void Fuse(NodeId update) {
    Node& node = graph_.mutable_node(update);
    ApplyAttrs& attrs = std::get<ApplyAttrs>(node.attrs);
    Output& gradient = node.inputs[static_cast<size_t>(GradientInput(node.kind))];
    const Node& sum = graph_.node(gradient.node);
    if (attrs.has_weight_decay || sum.kind != OpKind::kAddN || sum.inputs.size() != 2 || !IsReadOnce(gradient)) return;
    for (int i : {0, 1}) {
      const Output decay = Decay(sum.inputs[static_cast<size_t>(i)], node.inputs[0]);
      if (!decay.is_valid()) continue;
      gradient = sum.inputs[static_cast<size_t>(1 - i)];
      node.inputs.push_back(decay);
      attrs.has_weight_decay = true;
      return;
    }
  }

  CompileGraph& graph_;
  const std::vector<std::vector<std::vector<Use>>> uses_;
};

}  // namespace

void FuseWeightDecay(CompileGraph& graph) { DecayFuser(graph).Run(); }

}  // namespace muster
