#pragma once

#include <vector>

#include "compile/compile_graph.h"

namespace muster {

// By node: whether something of the backward pass went into its value. "order": all live nodes, each behind what it
// needs.
std::vector<bool> AfterBackward(const CompileGraph& graph, const std::vector<NodeId>& order);

}  // namespace muster
