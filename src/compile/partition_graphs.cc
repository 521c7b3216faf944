// What each device computes, as graphs that can be exported: the compiler's result before it becomes steps.

#include "compile/passes.h"

namespace muster {
namespace {

// A device's part of the compiled graph. What comes from other devices comes through its receives, so that edges stay
// inside.
class PartitionCopy {
 public:
  PartitionCopy(const CompileGraph& from, const DeviceName& device) : from_(from), device_(device) {
    to_.set_seed(static_cast<int64_t>(from.seed()));
  }

  void Add(NodeId id) {
    Node node = from_.node(id);
    node.id = kNoNode;
    node.name = to_.UniqueName(node.name);  // fusion and recomputation may have left one twice
    node.device = device_;
    node.colocate_with.clear();
    for (Output& input : node.inputs) input.node = here_.at(input.node);
    std::erase_if(node.control_inputs, [&](NodeId control) { return here_.count(control) == 0; });
    for (NodeId& control : node.control_inputs) control = here_.at(control);
    here_[id] = to_.Add(std::move(node));
  }

  Graph Take() { return std::move(to_); }

 private:
  const CompileGraph& from_;
  const DeviceName device_;
  Graph to_;
  std::map<NodeId, NodeId> here_;
};

}  // namespace

std::vector<Graph> PartitionGraphs(const CompileGraph& graph, const CompileRequest& request) {
  std::map<int, PartitionCopy> copies;
  for (NodeId id : graph.TopologicalOrder()) {
    const int device = graph.device(id);
    copies.try_emplace(device, graph, request.devices[static_cast<size_t>(device)].name).first->second.Add(id);
  }
  std::vector<Graph> graphs;
  for (auto& [device, copy] : copies) graphs.push_back(copy.Take());
  return graphs;
}

}  // namespace muster
