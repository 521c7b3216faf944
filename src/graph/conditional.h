#pragma once

#include "muster/graph.h"

namespace muster {

// From now on the update of variables "update" (an Apply… or Assign… operation) takes place only in steps in which
// "condition", a bool scalar that exists before the update, is true; in others the variables keep their values. The
// condition becomes the operation's last input. Throws InvalidArgument for other operations and conditions.
void MakeConditional(Graph* graph, NodeId update, Output condition);

// Whether an update has such a condition.
bool IsConditional(const Graph& graph, const Node& node);

}  // namespace muster
