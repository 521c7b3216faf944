#include "compile/bucket_layouts.h"

#include <set>

#include "compile/layout_rules.h"
#include "compile/update_ops.h"
#include "graph/op_def.h"

namespace muster {
namespace {

using AllUses = std::vector<std::vector<std::vector<Use>>>;

class BucketPaths {
 public:
  BucketPaths(const CompileGraph& graph, const CompileRequest& request, const AllUses& uses)
      : graph_(graph), request_(request), uses_(uses) {
    for (NodeId id = 0; id < graph.size(); ++id)
      if (graph.is_live(id) && graph.node(id).kind == OpKind::k_Recv)
        receives_[graph.node(id).attr<ChannelAttrs>().channel] = id;
    for (Output fetch : graph.fetches()) fetched_.insert(fetch);
  }

  // The form of a Bucket, or plain if something on the way looks into it.
  Layout FormOf(NodeId bucket) {
    seen_.clear();
    ends_.clear();
    const int home = graph_.device(bucket);
    is_one_kind_ = true;
    if (!Follow({bucket, 0}, home) || ends_.empty()) return {};
    for (NodeId end : ends_)
      if (!HasShapesOf(end, bucket)) return {};
    std::vector<TensorDesc> parts;
    for (size_t i = 0; i < graph_.node(bucket).inputs.size(); ++i) {
      TensorDesc part = graph_.node(ends_[0]).outputs[i];
      part.layout = is_one_kind_ ? CommonForm(i) : Layout();
      parts.push_back(std::move(part));
    }
    return Layout(std::make_shared<BucketFormat>(std::move(parts)));
  }

 private:
  bool HasShapesOf(NodeId unbucket, NodeId bucket) const {
    const Node &out = graph_.node(unbucket), &in = graph_.node(bucket);
    if (out.outputs.size() != in.inputs.size()) return false;
    for (size_t i = 0; i < in.inputs.size(); ++i)
      if (!(out.outputs[i].shape == graph_.desc(in.inputs[i]).shape)) return false;
    return true;
  }

  // Notes the Unbuckets that a value reaches. False: something reads it that is not element-wise.
  bool Follow(Output value, int home) {
    if (!seen_.insert(value).second) return true;
    if (fetched_.contains(value)) return false;
    for (const Use& use : uses_[static_cast<size_t>(value.node)][static_cast<size_t>(value.index)])
      if (!FollowInto(use.node, value, home)) return false;
    return true;
  }

  bool FollowInto(NodeId id, Output value, int home) {
    const Node& node = graph_.node(id);
    if (!HaveSameForms(request_, home, graph_.device(id))) is_one_kind_ = false;
    if (node.kind == OpKind::kUnbucket) {
      ends_.push_back(id);
      return true;
    }
    if (node.kind == OpKind::k_Send) return Follow({receives_.at(node.attr<ChannelAttrs>().channel), 0}, home);
    if (!IsAgnostic(node.kind) || GetOpDef(node.kind).num_refs > 0 || node.outputs.size() != 1 ||
        node.kind == OpKind::kL2Loss)
      return false;
    return graph_.desc({id, 0}).shape == graph_.desc(value).shape && TakesOneForm(node) && Follow({id, 0}, home);
  }

  // Sums of buckets, and products with a scalar.
  bool TakesOneForm(const Node& node) const {
    for (Output in : node.inputs)
      if (graph_.desc(in).shape.rank() == 0 ? node.kind != OpKind::kMul
                                            : !(graph_.desc(in).shape == node.outputs[0].shape))
        return false;
    return true;
  }

  // The form of the variables that the i-th tensor updates.
  Layout CommonForm(size_t i) const {
    Layout form;
    bool is_first = true;
    for (NodeId end : ends_)
      for (const Use& use : uses_[static_cast<size_t>(end)][i]) {
        const Node& reader = graph_.node(use.node);
        const bool updates = GradientInputOf(reader.kind) == use.input &&
                             graph_.desc(reader.inputs[0]).shape == graph_.node(end).outputs[i].shape;
        const Layout wished = updates ? graph_.desc(reader.inputs[0]).layout : Layout();
        if (!is_first && !(wished == form)) return {};
        form = wished;
        is_first = false;
      }
    return form;
  }

  const CompileGraph& graph_;
  const CompileRequest& request_;
  const AllUses& uses_;
  std::map<int, NodeId> receives_;  // by channel
  std::set<Output> fetched_;
  // Of the Bucket that is being followed.
  std::set<Output> seen_;
  std::vector<NodeId> ends_;
  bool is_one_kind_ = true;  // all devices on the way have the same kernels
};

}  // namespace

std::map<NodeId, Layout> BucketLayouts(const CompileGraph& graph, const CompileRequest& request, const AllUses& uses) {
  std::map<NodeId, Layout> layouts;
  BucketPaths paths(graph, request, uses);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!graph.is_live(id) || graph.node(id).kind != OpKind::kBucket) continue;
    if (const Layout form = paths.FormOf(id); !form.is_plain()) layouts.emplace(id, form);
  }
  return layouts;
}

}  // namespace muster
