// Which values live in an opaque form. Kernels say what they wish (LayoutFn). A variable takes the form that its first
// reader wishes, its slots and updates follow, and a _Reorder node stands wherever a reader needs another form.
// Element- wise work over one form does not care which it is, and neither do transfers between devices with the same
// kernels. Buckets keep their tensors' forms (bucket_layouts.h).

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "compile/bucket_layouts.h"
#include "compile/layout_rules.h"
#include "compile/passes.h"
#include "graph/op_def.h"

namespace muster {
namespace {

class LayoutPass {
 public:
  LayoutPass(CompileGraph& graph, const CompileRequest& request) : graph_(graph), request_(request) {}

  void Run() {
    const std::vector<NodeId> order = graph_.TopologicalOrder();
    uses_ = graph_.Uses();
    for (NodeId id : order)
      if (graph_.node(id).kind == OpKind::k_Recv)
        channels_to_[graph_.node(id).attr<ChannelAttrs>().channel] = graph_.device(id);
    CollectWishes(order);
    ChooseForVariables(order);
    buckets_ = BucketLayouts(graph_, request_, uses_);
    for (NodeId id : order) Apply(id);
  }

 private:
  void CollectWishes(const std::vector<NodeId>& order) {
    for (NodeId id : order) {
      const CompileDevice& device = request_.devices[static_cast<size_t>(graph_.device(id))];
      const KernelRow* row = FindRow(graph_, id, device);
      if (row != nullptr && row->layout != nullptr) wishes_[id] = row->layout(RequestFor(graph_, id), device.caps);
    }
  }

  VariableTable::Entry* EntryOf(NodeId variable) {
    const int index = request_.variables->IndexOf(graph_.original(variable));
    return index < 0 ? nullptr : &request_.variables->mutable_entry(index);
  }

  void ChooseForVariables(const std::vector<NodeId>& order) {
    for (NodeId id : order) {
      auto wish = wishes_.find(id);
      if (wish == wishes_.end()) continue;
      for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
        const Output in = graph_.node(id).inputs[i];
        if (wish->second.inputs[i].is_plain() || graph_.node(in.node).kind != OpKind::kVariable) continue;
        VariableTable::Entry* entry = EntryOf(in.node);
        if (entry == nullptr || entry->layout_chosen) continue;
        entry->layout_chosen = true;
        Move(*entry, wish->second.inputs[i]);
      }
    }
    // Slots are updated beside their variable, element by element: they take its form.
    for (NodeId id : order) {
      const Node& node = graph_.node(id);
      const int refs = GetOpDef(node.kind).num_refs;
      if (refs < 2) continue;
      const VariableTable::Entry* first = EntryOf(node.inputs[0].node);
      for (int i = 1; i < refs; ++i) {
        VariableTable::Entry* slot = EntryOf(node.inputs[static_cast<size_t>(i)].node);
        if (first != nullptr && slot != nullptr && !(slot->desc.layout == first->desc.layout))
          Move(*slot, first->desc.layout);
      }
    }
    for (NodeId id : order)
      if (graph_.node(id).kind == OpKind::kVariable)
        if (const VariableTable::Entry* entry = EntryOf(id)) graph_.mutable_desc({id, 0}).layout = entry->desc.layout;
  }

  // A variable that already has memory must be moved there by the session, which compares the version.
  void Move(VariableTable::Entry& entry, const Layout& layout) {
    entry.desc.layout = layout;
    ++request_.variables->version;
  }

  // The value in another form, made once.
  Output Reordered(Output value, const Layout& layout, NodeId near) {
    if (graph_.desc(value).layout == layout) return value;
    const std::vector<NodeId> after = graph_.ReadAfter(value, near);
    Output& made = reordered_[{value, layout.ToString(), after}];
    if (!made.is_valid()) {
      const NodeId id =
          graph_.Add(OpKind::k_Reorder, graph_.node(value.node).name + "/reorder", {value}, NoAttrs{}, near);
      graph_.mutable_desc({id, 0}).layout = layout;
      graph_.SetControlInputs(id, after);
      made = {id, 0};
    }
    return made;
  }

  void SetInput(NodeId id, size_t i, const Layout& layout) {
    graph_.SetInput(id, i, Reordered(graph_.node(id).inputs[i], layout, id));
  }

  // Whether an update of a variable that is kept in this form reads the value.
  bool UpdatesVariableIn(const Layout& layout, Output value) {
    for (const Use& use : uses_[static_cast<size_t>(value.node)][static_cast<size_t>(value.index)]) {
      const Node& reader = graph_.node(use.node);
      if (use.input >= GetOpDef(reader.kind).num_refs && GetOpDef(reader.kind).num_refs > 0 &&
          graph_.desc(reader.inputs[0]).layout == layout)
        return true;
      if (const auto parts = PartsOf(use.node);
          !parts.empty() && parts[static_cast<size_t>(use.input)].layout == layout)
        return true;
    }
    return false;
  }

  // The tensors of a Bucket that keeps their forms; none for everything else.
  std::vector<TensorDesc> PartsOf(NodeId id) const {
    const auto found = buckets_.find(id);
    return found == buckets_.end() ? std::vector<TensorDesc>{} : BucketFormatOf(found->second)->parts();
  }

  // Bucket, Unbucket and the two ends of a transfer. False: the node is none of them.
  bool ApplyToBucketOrTransfer(NodeId id) {
    const Node& node = graph_.node(id);
    switch (node.kind) {
      case OpKind::kBucket: {
        const std::vector<TensorDesc> parts = PartsOf(id);
        for (size_t i = 0; i < node.inputs.size(); ++i) SetInput(id, i, parts.empty() ? Layout() : parts[i].layout);
        if (!parts.empty()) graph_.mutable_desc({id, 0}).layout = buckets_.at(id);
        return true;
      }
      case OpKind::kUnbucket:
        if (const BucketFormat* bucket = BucketFormatOf(graph_.desc(node.inputs[0]).layout))
          for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i)
            graph_.mutable_desc({id, i}).layout = bucket->parts()[static_cast<size_t>(i)].layout;
        else SetInput(id, 0, Layout());
        return true;
      case OpKind::k_Send: {
        const int channel = node.attr<ChannelAttrs>().channel;
        if (!KeepsForms(request_, graph_.device(id), channels_to_.at(channel), graph_.desc(node.inputs[0]).layout))
          SetInput(id, 0, Layout());
        sent_[channel] = graph_.desc(graph_.node(id).inputs[0]).layout;
        return true;
      }
      case OpKind::k_Recv:
        graph_.mutable_desc({id, 0}).layout = sent_.at(node.attr<ChannelAttrs>().channel);
        return true;
      default: return false;
    }
  }

  void Apply(NodeId id) {
    if (ApplyToBucketOrTransfer(id)) return;
    const size_t num_inputs = graph_.node(id).inputs.size();
    if (auto found = wishes_.find(id); found != wishes_.end()) {
      const LayoutWish& wish = found->second;
      for (size_t i = 0; i < num_inputs; ++i) {
        const bool stays_plain = wish.is_optional && graph_.desc(graph_.node(id).inputs[i]).layout.is_plain();
        SetInput(id, i, stays_plain ? Layout() : wish.inputs[i]);
      }
      for (int i = 0; i < static_cast<int>(graph_.node(id).outputs.size()); ++i) {
        const Layout& layout = wish.outputs[static_cast<size_t>(i)];
        if (!wish.is_optional || UpdatesVariableIn(layout, {id, i})) graph_.mutable_desc({id, i}).layout = layout;
      }
      return;
    }
    const Layout common = CommonLayout(id);
    for (size_t i = 0; i < num_inputs; ++i) {
      const Output in = graph_.node(id).inputs[i];
      if (graph_.desc(in).shape.rank() == 0) continue;
      SetInput(id, i, common);
    }
    const Node& node = graph_.node(id);
    if (node.kind == OpKind::kVariable) return;
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
      TensorDesc& out = graph_.mutable_desc({id, i});
      if (out.shape.rank() > 0 && IsAgnostic(node.kind) && node.kind != OpKind::kL2Loss) out.layout = common;
    }
  }

  // The form of an element-wise operation: its variable's, else the first opaque one; plain for everything else.
  Layout CommonLayout(NodeId id) const {
    const Node& node = graph_.node(id);
    if (!IsAgnostic(node.kind)) return {};
    const bool is_update = GetOpDef(node.kind).num_refs > 0;
    Layout layout;
    const Shape* shape = nullptr;
    for (Output in : node.inputs) {
      const TensorDesc& d = graph_.desc(in);
      if (d.shape.rank() == 0) continue;
      if (shape != nullptr && !(*shape == d.shape)) return {};  // it broadcasts, so axes matter
      shape = &d.shape;
      if (is_update && in == node.inputs[0]) return d.layout;
      if (layout.is_plain()) layout = d.layout;
    }
    // Adding a scalar would fill the padding.
    const bool has_scalar = std::any_of(node.inputs.begin(), node.inputs.end(),
                                        [&](Output in) { return graph_.desc(in).shape.rank() == 0; });
    if (has_scalar && (node.kind == OpKind::kAdd || node.kind == OpKind::kSub)) return {};
    return layout;
  }

  CompileGraph& graph_;
  const CompileRequest& request_;
  std::map<NodeId, LayoutWish> wishes_;
  std::map<NodeId, Layout> buckets_;                 // of the Buckets that keep their tensors' forms
  std::map<int, int> channels_to_;                   // the receiving device, by channel
  std::map<int, Layout> sent_;                       // by channel
  std::vector<std::vector<std::vector<Use>>> uses_;  // before this pass adds nodes
  std::map<std::tuple<Output, std::string, std::vector<NodeId>>, Output> reordered_;
};

}  // namespace

void ChooseLayouts(CompileGraph& graph, const CompileRequest& request) { LayoutPass(graph, request).Run(); }

}  // namespace muster
