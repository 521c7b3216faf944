#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "muster/graph.h"

namespace muster {

// One reader of a value: input number "input" of a node. Among the waiters of a node: its control input of that number.
struct Use {
  NodeId node = kNoNode;
  int input = 0;
  friend auto operator<=>(const Use&, const Use&) = default;
};

// Who reads each output and who waits for each node, kept while a graph changes. Every change costs the same, however
// many others read the value: an edge knows its place in the list of its value, and the last of the list takes a place
// that becomes free. So lists are in no order. Whoever changes an edge of the graph must say so here.
class UseIndex {
 public:
  // Takes in the next node (ids count up from 0) with its edges; what it reads must be here.
  void AddNode(const Node& node);
  // Forgets the edges by which a node reads, and those by which it waits.
  void RemoveInputs(const Node& node);
  void RemoveControls(const Node& node);

  void AddInput(Use use, Output value);
  void MoveInput(Use use, Output from, Output to);
  void AddControl(Use use, NodeId awaited);
  void MoveControl(Use use, NodeId from, NodeId to);

  std::span<const Use> Readers(Output value) const { return lists_[ListOf(value)]; }
  std::span<const Use> Waiters(NodeId node) const {
    return lists_[static_cast<size_t>(first_list_[static_cast<size_t>(node)])];
  }

 private:
  // Where each edge of a node is in the list of what it reads or waits for.
  struct Places {
    std::vector<uint32_t> inputs, controls;
  };

  size_t ListOf(Output value) const {
    return static_cast<size_t>(first_list_[static_cast<size_t>(value.node)] + 1 + value.index);
  }
  size_t ListOf(NodeId node) const { return static_cast<size_t>(first_list_[static_cast<size_t>(node)]); }
  // "places" is the member of Places that the list's kind of edges has.
  void Enter(size_t list, Use use, std::vector<uint32_t> Places::*places);
  void Leave(size_t list, Use use, std::vector<uint32_t> Places::*places);

  std::vector<int> first_list_;  // by node: the list of its waiters; those of its outputs follow
  std::vector<std::vector<Use>> lists_;
  std::vector<Places> places_;  // by node
};

}  // namespace muster
