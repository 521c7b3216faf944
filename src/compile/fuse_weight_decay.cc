#include "compile/passes.h"
#include "compile/update_ops.h"
#include "graph/op_def.h"
#include "plan/conditional_kernel.h"

namespace muster {
namespace {

// The updates whose kernels take a weight decay.
bool TakesWeightDecay(OpKind kind) {
  return kind == OpKind::kApplyGradientDescent || kind == OpKind::kApplyMomentum || kind == OpKind::kApplyRMSProp ||
         kind == OpKind::kApplyAdam;
}

class DecayFuser {
 public:
  explicit DecayFuser(CompileGraph& graph) : graph_(graph), uses_(graph.Uses()) {}

  void Run() {
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (graph_.is_live(id) && TakesWeightDecay(graph_.node(id).kind) && IsOnlyUpdate(id)) Fuse(id);
    graph_.RemoveUnused();
  }

 private:
  bool IsReadOnce(Output o) const {
    return uses_[static_cast<size_t>(o.node)][static_cast<size_t>(o.index)].size() == 1 && !graph_.IsFetched(o);
  }

  // Another update of the variable might run first, and the decay is of the value before either.
  bool IsOnlyUpdate(NodeId update) const {
    const Output variable = graph_.node(update).inputs[0];
    for (const Use& use : uses_[static_cast<size_t>(variable.node)][0])
      if (use.node != update && use.input < GetOpDef(graph_.node(use.node).kind).num_refs) return false;
    return true;
  }

  // The scalar s if "term" is variable * s, else invalid.
  Output Decay(Output term, Output variable) const {
    const Node& mul = graph_.node(term.node);
    if (mul.kind != OpKind::kMul || !IsReadOnce(term) || !mul.control_inputs.empty()) return {};
    for (int i : {0, 1}) {
      const Output other = mul.inputs[static_cast<size_t>(1 - i)];
      if (mul.inputs[static_cast<size_t>(i)] == variable && graph_.desc(other).shape.rank() == 0) return other;
    }
    return {};
  }

  void Fuse(NodeId update) {
    const Node& node = graph_.node(update);
    if (IsConditional(RequestFor(graph_, update))) return;  // the last input is the condition
    const auto input = static_cast<size_t>(GradientInputOf(node.kind));
    const Output gradient = node.inputs[input];
    const Node& sum = graph_.node(gradient.node);
    if (node.attr<ApplyAttrs>().has_weight_decay || sum.kind != OpKind::kAddN || sum.inputs.size() != 2 ||
        !IsReadOnce(gradient) || !sum.control_inputs.empty())
      return;
    for (int i : {0, 1}) {
      const Output decay = Decay(sum.inputs[static_cast<size_t>(i)], node.inputs[0]);
      if (!decay.is_valid()) continue;
      graph_.SetInput(update, input, sum.inputs[static_cast<size_t>(1 - i)]);
      graph_.AddInput(update, decay);
      graph_.mutable_attrs(update).get<ApplyAttrs>().has_weight_decay = true;
      return;
    }
  }

  CompileGraph& graph_;
  const std::vector<std::vector<std::vector<Use>>> uses_;
};

}  // namespace

void FuseWeightDecay(CompileGraph& graph) { DecayFuser(graph).Run(); }

}  // namespace muster
