#pragma once

#include <string>
#include <vector>

#include "compile/candidates.h"
#include "muster/error.h"
#include "muster/soft_placement.h"

namespace muster {

// Why a group has no device: what was asked for, which devices there are, and what each member of the group can run on.
// "wanted" is what the group asks for together.
Error NoDeviceError(const Graph& graph, const Candidates& candidates, const std::vector<NodeId>& members,
                    const DeviceName& wanted);

// The entry for a node that did not get what it asked for.
SoftPlacement Moved(const Graph& graph, const Candidates& candidates, NodeId id, int device,
                    const std::vector<NodeId>& members);

}  // namespace muster
