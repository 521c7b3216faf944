#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "muster/graph.h"

namespace muster {

// One reader of a value.
struct Use {
  NodeId node = kNoNode;
  int input = 0;
};

// The compiler's working copy of a graph: nodes that passes replace and remove. Unlike a Graph's, ids are not
// topological; "order" keeps new nodes near the ones they came from, and the schedule pass sorts by it.
class CompileGraph {
 public:
  // Copies what fetches and targets need, cut at the feeds. Throws InvalidArgument naming a placeholder that is not fed.
  CompileGraph(const Graph& graph, const std::vector<Output>& feeds, const std::vector<Output>& fetches,
               const std::vector<NodeId>& targets);

  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  Node& mutable_node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  bool is_live(NodeId id) const { return info_[static_cast<size_t>(id)].live; }
  const TensorDesc& desc(Output o) const { return node(o.node).outputs[static_cast<size_t>(o.index)]; }
  TensorDesc& mutable_desc(Output o) { return mutable_node(o.node).outputs[static_cast<size_t>(o.index)]; }

  // The node's id in the user's graph, or kNoNode for one that a pass made.
  NodeId original(NodeId id) const { return info_[static_cast<size_t>(id)].original; }
  int64_t order(NodeId id) const { return info_[static_cast<size_t>(id)].order; }
  int device(NodeId id) const { return info_[static_cast<size_t>(id)].device; }
  void set_device(NodeId id, int device) { info_[static_cast<size_t>(id)].device = device; }
  // The variable (id here) that holds this value, looking through aliases, or kNoNode.
  NodeId VariableBehind(Output value) const;

  // Adds a node scheduled right before (or after) "near" and on its device; infers its outputs.
  NodeId Add(OpKind kind, const std::string& name, std::vector<Output> inputs, Attrs attrs, NodeId near, bool before = true);
  // Every reader of "from" (and every fetch of it) reads "to" instead.
  void ReplaceUses(Output from, Output to);
  // Control edges from "from" become edges from "to".
  void MoveControlUses(NodeId from, NodeId to);
  void Remove(NodeId id) { info_[static_cast<size_t>(id)].live = false; }
  // Whether these nodes may become one: on one device, and none waits for something of its own.
  bool MayFuse(const std::vector<NodeId>& members) const;
  // Removes the members of a fusion; what waited for one of them waits for the fused node.
  void ReplaceMembers(const std::vector<NodeId>& members, NodeId fused);
  // Drops live nodes that nothing needs any more.
  void RemoveUnused();

  // Readers of each output of each node: uses[node][output].
  std::vector<std::vector<std::vector<Use>>> Uses() const;
  // Live readers of one output. Reads every node: for passes that change the graph as they go.
  std::vector<Use> Readers(Output o) const;
  bool IsFetched(Output o) const;
  // What a node that is put between "value" and "reader" must wait for, so that a variable is read when the reader wanted it:
  // the reader's control inputs if a variable is behind the value, else nothing.
  std::vector<NodeId> ReadAfter(Output value, NodeId reader) const;
  // Live nodes so that inputs and control inputs come first; ties in "order".
  std::vector<NodeId> TopologicalOrder() const;
  std::string ToText() const;

  std::vector<Output> feeds;      // as placeholders here, also those that turn out not to be needed
  std::vector<Output> fetches;
  std::vector<NodeId> targets;
  uint64_t seed = 0;

  struct Info {
    NodeId original = kNoNode;
    int64_t order = 0;
    int device = 0;
    bool live = true;
  };

 private:
  std::deque<Node> nodes_;  // passes hold references while they add nodes
  std::vector<Info> info_;
};

}  // namespace muster
