#pragma once

#include <cstddef>
#include <vector>

#include "compile/compile_graph.h"

namespace muster {

// The nodes of each device, as scheduled.
inline std::vector<std::vector<NodeId>> ByDevice(const CompileGraph& graph, const std::vector<NodeId>& order,
                                                 size_t num_devices) {
  std::vector<std::vector<NodeId>> nodes(num_devices);
  for (NodeId id : order) nodes[static_cast<size_t>(graph.device(id))].push_back(id);
  return nodes;
}

// The numbers of the values on each device.
inline std::vector<std::vector<size_t>> ByDevice(const CompileGraph& graph, const std::vector<Output>& values,
                                                 size_t num_devices) {
  std::vector<std::vector<size_t>> numbers(num_devices);
  for (size_t i = 0; i < values.size(); ++i) numbers[static_cast<size_t>(graph.device(values[i].node))].push_back(i);
  return numbers;
}

}  // namespace muster
