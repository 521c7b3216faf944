#include "compile/colocation.h"

#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "graph/op_def.h"

namespace muster {
namespace {

// Disjoint sets of node ids, by rank and with path halving.
class UnionFind {
 public:
  explicit UnionFind(int size) : parent_(static_cast<size_t>(size)), rank_(static_cast<size_t>(size), 0) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  size_t Find(NodeId id) {
    auto at = static_cast<size_t>(id);
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

  void Unite(NodeId a, NodeId b) {
    size_t x = Find(a), y = Find(b);
    if (x == y) return;
    if (rank_[x] < rank_[y]) std::swap(x, y);
    parent_[y] = x;
    if (rank_[x] == rank_[y]) ++rank_[x];
  }

 private:
  std::vector<size_t> parent_;
  std::vector<int> rank_;
};

}  // namespace

ColocationGroups::ColocationGroups(const Graph& graph) : group_(static_cast<size_t>(graph.num_nodes())) {
  UnionFind sets(graph.num_nodes());
  std::unordered_map<std::string, NodeId> strangers;  // the first node of a colocation name that no node has
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    const Node& node = graph.node(id);
    for (int i = 0; i < GetOpDef(node.kind).num_refs; ++i) sets.Unite(node.inputs[static_cast<size_t>(i)].node, id);
    for (const std::string& name : node.colocate_with) {
      const NodeId named = graph.Find(name);
      sets.Unite(named != kNoNode ? named : strangers.emplace(name, id).first->second, id);
    }
  }
  std::vector<int> group_of_root(static_cast<size_t>(graph.num_nodes()), -1);
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    int& group = group_of_root[sets.Find(id)];
    if (group < 0) {
      group = size();
      members_.emplace_back();
    }
    group_[static_cast<size_t>(id)] = group;
    members_[static_cast<size_t>(group)].push_back(id);
  }
}

}  // namespace muster
