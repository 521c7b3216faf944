#pragma once

#include <optional>
#include <vector>

#include "muster/graph.h"

namespace muster {

// What the members of a colocation group ask for together. "home" is where a variable of the group lives already, or
// empty.
//
// Variables come first: an operation goes to its variable. Parts that nobody sets stay open. Two members that
// contradict each other in type or index are an error; with soft placement the variable's wish holds, and where none
// decides, the contested part is left open. A contradiction in job, replica or task is always an error. Throws
// InvalidArgument naming both members and what they ask for.
DeviceName GroupRequest(const Graph& graph, const std::vector<NodeId>& members, const std::optional<DeviceName>& home,
                        bool allow_soft_placement);

}  // namespace muster
