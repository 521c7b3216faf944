#include "compile/bucket_views.h"

#include <algorithm>
#include <set>

#include "plan/bucket_format.h"

namespace muster {
namespace {

class ViewFinder {
 public:
  ViewFinder(const CompileGraph& graph, const Lifetimes& lifetimes, const std::function<bool(Output)>& owns)
      : graph_(graph), lifetimes_(lifetimes), owns_(owns) {}

  void IntoBucket(NodeId id, int step) {
    const Node& node = graph_.node(id);
    const BucketFormat* format = BucketFormatOf(node.outputs[0].layout);
    if (format == nullptr) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Output root = lifetimes_.Root(node.inputs[i]);
      const bool is_free =
          owns_(root) && graph_.node(root.node).kind != OpKind::k_Recv && lifetimes_.LastUse(root) == step;
      const bool fits = graph_.desc(root).byte_size() == format->parts()[i].byte_size();
      if (is_free && fits && taken_.insert(root).second) views_.push_back({root, {id, 0}, format->offset(i)});
    }
  }

  void OutOfBucket(NodeId id, int step) {
    const Node& node = graph_.node(id);
    const Output bucket = lifetimes_.Root(node.inputs[0]);
    const BucketFormat* format = BucketFormatOf(graph_.desc(node.inputs[0]).layout);
    if (format == nullptr || !owns_(bucket) || lifetimes_.LastUse(bucket) != step) return;
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i)
      views_.push_back({{id, i}, bucket, format->offset(static_cast<size_t>(i))});
  }

  std::vector<BucketView> Take() { return std::move(views_); }

 private:
  const CompileGraph& graph_;
  const Lifetimes& lifetimes_;
  const std::function<bool(Output)>& owns_;
  std::set<Output> taken_;
  std::vector<BucketView> views_;
};

}  // namespace

std::vector<BucketView> FindBucketViews(const CompileGraph& graph, const Lifetimes& lifetimes,
                                        const std::vector<NodeId>& nodes,
                                        const std::function<bool(Output root)>& owns) {
  ViewFinder finder(graph, lifetimes, owns);
  for (int step = 0; step < static_cast<int>(nodes.size()); ++step) {
    const NodeId id = nodes[static_cast<size_t>(step)];
    if (graph.node(id).kind == OpKind::kBucket) finder.IntoBucket(id, step);
    if (graph.node(id).kind == OpKind::kUnbucket) finder.OutOfBucket(id, step);
  }
  return finder.Take();
}

}  // namespace muster
