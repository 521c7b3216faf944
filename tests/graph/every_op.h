#pragma once

#include "muster/graph.h"

namespace muster {

// A graph with at least one node of every kind of operation, spread over scopes and devices, with control inputs and
// colocation. What it computes makes no sense.
Graph EveryOpGraph();

}  // namespace muster
