#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compile/use_index.h"
#include "muster/graph.h"

namespace muster {

// The compiler's working copy of a graph: nodes that passes replace and remove. Unlike a Graph's, ids are not
// topological; "order" keeps new nodes near the ones they came from, and the schedule pass sorts by it. Edges change
// only through the functions here, which keep an index of uses: what a change costs depends on the uses that it moves,
// not on the size of the graph.
class CompileGraph {
 public:
  // Copies what fetches and targets need, cut at the feeds. Throws InvalidArgument naming a placeholder that is not
  // fed.
  CompileGraph(const Graph& graph, const std::vector<Output>& feeds, const std::vector<Output>& fetches,
               const std::vector<NodeId>& targets);

  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  bool is_live(NodeId id) const { return info_[static_cast<size_t>(id)].live; }
  const TensorDesc& desc(Output o) const { return node(o.node).outputs[static_cast<size_t>(o.index)]; }
  TensorDesc& mutable_desc(Output o) {
    return nodes_[static_cast<size_t>(o.node)].outputs[static_cast<size_t>(o.index)];
  }
  Attrs& mutable_attrs(NodeId id) { return nodes_[static_cast<size_t>(id)].attrs; }
  void set_kind(NodeId id, OpKind kind) { nodes_[static_cast<size_t>(id)].kind = kind; }
  const std::vector<Output>& feeds() const {
    return feeds_;
  }  // as placeholders here, also those that turn out not to be needed
  const std::vector<Output>& fetches() const { return fetches_; }
  const std::vector<NodeId>& targets() const { return targets_; }
  uint64_t seed() const { return seed_; }

  // The node's id in the user's graph, or kNoNode for one that a pass made.
  NodeId original(NodeId id) const { return info_[static_cast<size_t>(id)].original; }
  int64_t order(NodeId id) const { return info_[static_cast<size_t>(id)].order; }
  void set_order(NodeId id, int64_t order) { info_[static_cast<size_t>(id)].order = order; }
  int device(NodeId id) const { return info_[static_cast<size_t>(id)].device; }
  void set_device(NodeId id, int device) { info_[static_cast<size_t>(id)].device = device; }
  // The variable (id here) that holds this value, looking through aliases, or kNoNode.
  NodeId VariableBehind(Output value) const;

  // Adds a node scheduled right before (or after) "near" and on its device; infers its outputs.
  NodeId Add(OpKind kind, const std::string& name, std::vector<Output> inputs, Attrs attrs, NodeId near,
             bool before = true);
  // Changes of a live node's edges.
  void SetInput(NodeId id, size_t input, Output value);
  void AddInput(NodeId id, Output value);
  void SetControlInput(NodeId id, size_t input, NodeId awaited);
  void AddControlInput(NodeId id, NodeId awaited);
  void SetControlInputs(NodeId id, std::vector<NodeId> awaited);
  // Takes away the outputs from number "count" on, which nothing reads.
  void DropOutputs(NodeId id, size_t count);
  void SetFetch(size_t fetch, Output value);
  void AddTarget(NodeId id);
  // Every reader of "from" (and every fetch of it) reads "to" instead.
  void ReplaceUses(Output from, Output to);
  // Control edges from "from" become edges from "to", and so do targets.
  void MoveControlUses(NodeId from, NodeId to);
  void Remove(NodeId id);
  // Whether these nodes may become one: on one device, and none waits for something of its own.
  bool MayFuse(const std::vector<NodeId>& members) const;
  // Removes the members of a fusion; what waited for one of them waits for the fused node.
  void ReplaceMembers(const std::vector<NodeId>& members, NodeId fused);
  // Drops live nodes that nothing needs any more.
  void RemoveUnused();

  // Live readers of one output, by node and input.
  std::vector<Use> Readers(Output o) const;
  size_t NumReaders(Output o) const { return uses_.Readers(o).size(); }
  // Whether a live node has a control edge from this one.
  bool IsAwaited(NodeId id) const { return !uses_.Waiters(id).empty(); }
  // Readers of each output of each node as they are now: uses[node][output].
  std::vector<std::vector<std::vector<Use>>> Uses() const;
  bool IsFetched(Output o) const { return fetches_of_.count(o) > 0; }
  // What a node that is put between "value" and "reader" must wait for, so that a variable is read when the reader
  // wanted it: the reader's control inputs if a variable is behind the value, else nothing.
  std::vector<NodeId> ReadAfter(Output value, NodeId reader) const;
  // Live nodes so that inputs and control inputs come first; ties in "order".
  std::vector<NodeId> TopologicalOrder() const;
  std::string ToText() const;

  // Nodes and edges that the functions above looked at or changed since the copy was made; passes add what they search
  // themselves.
  int64_t work() const { return work_; }
  void CountWork(int64_t looked_at) const { work_ += looked_at; }

 private:
  struct Info {
    NodeId original = kNoNode;
    int64_t order = 0;
    int device = 0;
    bool live = true;
  };

  void AddNode(Node node, Info info);

  std::deque<Node> nodes_;  // passes hold references while they add nodes
  std::vector<Info> info_;
  UseIndex uses_;  // of live nodes
  std::vector<Output> feeds_, fetches_;
  std::vector<NodeId> targets_;
  std::map<Output, std::vector<size_t>> fetches_of_;  // numbers of the fetches of a value that is fetched
  std::map<NodeId, std::vector<size_t>> targets_at_;  // likewise of targets
  uint64_t seed_ = 0;
  mutable int64_t work_ = 0;
};

}  // namespace muster
