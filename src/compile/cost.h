#pragma once

#include "compile/compile_graph.h"

namespace muster {

// Twice the multiply-adds, or the elements that it makes.
double EstimatedFlops(const CompileGraph& graph, const Node& node);

// Roughly how long a node computes: its arithmetic and its bytes at a fixed balance of the two. Only for comparisons.
double EstimatedSeconds(const CompileGraph& graph, const Node& node);

}  // namespace muster
