#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "muster/attrs.h"
#include "muster/device_name.h"
#include "muster/op_kind.h"

namespace muster {

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

// One output of a node: the edge that other nodes consume. A value; meaningful together with its graph.
struct Output {
  NodeId node = kNoNode;
  int32_t index = 0;

  bool is_valid() const { return node != kNoNode; }
  friend bool operator==(const Output&, const Output&) = default;
  friend auto operator<=>(const Output&, const Output&) = default;
};

// An operation in a graph. Output descriptions are inferred when the node is added.
struct Node {
  NodeId id = kNoNode;
  OpKind kind = OpKind::kNoOp;
  std::string name;  // unique in the graph, with its scopes: "tower_0/cg/conv0/Conv2D"
  Attrs attrs;
  std::vector<Output> inputs;
  std::vector<NodeId> control_inputs;
  DeviceName device;                       // as requested by scopes; may be partial or empty
  std::vector<std::string> colocate_with;  // names of nodes that must share the device ("loc:@name" in a GraphDef)
  std::vector<TensorDesc> outputs;

  template <typename A>
  const A& attr() const {
    return attrs.get<A>();
  }
};

// What the graph remembers about a variable beside its node.
struct VariableInfo {
  Output ref;                    // the Variable node
  NodeId initializer = kNoNode;  // the Assign that gives it its first value
  bool trainable = true;
  std::string name;
};

// A set of operations and the edges between them. Nodes live in one arena and are named by id; ids are topological:
// a node's inputs exist before it. The graph owns its nodes. Built by one thread; constant use from several is fine.
class Graph {
 public:
  Graph() = default;

  // Adds a node, infers its outputs and returns its id. The name must be new. Throws InvalidArgument naming the
  // operation, the shapes and the scope when inputs do not fit.
  NodeId Add(Node node);

  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  Node& mutable_node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  int num_nodes() const { return static_cast<int>(nodes_.size()); }
  const TensorDesc& desc(Output output) const { return node(output.node).outputs[static_cast<size_t>(output.index)]; }
  const Shape& shape(Output output) const { return desc(output).shape; }
  DType dtype(Output output) const { return desc(output).dtype; }

  // Throws InvalidArgument unless "output" is one of this graph's.
  void CheckExists(Output output) const;
  // The node of this name, or kNoNode.
  NodeId Find(const std::string& name) const;
  // "name" if it is free, otherwise "name_1", "name_2", … as TensorFlow counts.
  std::string UniqueName(const std::string& name);

  void AddVariable(VariableInfo info);
  const std::vector<VariableInfo>& variables() const { return variables_; }
  // The variable whose Variable node this is, or nullptr.
  const VariableInfo* FindVariable(NodeId node) const;

  // Operations to run beside the training step (batch-norm running averages), in creation order.
  void AddUpdateOp(NodeId node) { update_ops_.push_back(node); }
  const std::vector<NodeId>& update_ops() const { return update_ops_; }

  // The seed that keys every random stream of this graph.
  void set_seed(int64_t seed) { seed_ = seed; }
  int64_t seed() const { return seed_; }

 private:
  std::deque<Node> nodes_;
  std::unordered_map<std::string, NodeId> by_name_;
  std::unordered_map<std::string, int> name_counts_;
  std::vector<VariableInfo> variables_;
  std::unordered_map<NodeId, size_t> variable_at_;  // by Variable node
  std::vector<NodeId> update_ops_;
  int64_t seed_ = 87654321;  // TensorFlow's DEFAULT_GRAPH_SEED
};

}  // namespace muster
