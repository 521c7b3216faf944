#pragma once

#include <vector>

#include "muster/graph.h"

namespace muster {

// Which nodes of a graph must share a device: an operation and the variables it updates in place, and nodes with the
// same colocation name ("loc:@name" in a GraphDef), which is usually the name of a node and then includes that node.
class ColocationGroups {
 public:
  explicit ColocationGroups(const Graph& graph);

  int size() const { return static_cast<int>(members_.size()); }
  // Groups are numbered by their first node; a node that shares with nobody is a group of one.
  int GroupOf(NodeId id) const { return group_[static_cast<size_t>(id)]; }
  // In order of construction.
  const std::vector<NodeId>& members(int group) const { return members_[static_cast<size_t>(group)]; }

 private:
  std::vector<int> group_;
  std::vector<std::vector<NodeId>> members_;
};

}  // namespace muster
