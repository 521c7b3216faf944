#pragma once

#include <optional>
#include <string>

#include "muster/session.h"

namespace muster::train {

// Looks for the first value, in the order in which the graph computes them, that is not finite on the way from "feeds"
// to "loss" with the variables as they are. Returns for example "v/cg/conv0/conv2d/kernel holds nan" (a variable) or
// "the output of tower_0/cg/conv0/Conv2D (Conv2D) holds inf"; with several devices the node's is named: "… (Conv2D) on
// /device:GPU:1 holds inf". Nothing if all values are finite. Changes no variable.
std::optional<std::string> FirstNonFinite(Session& session, const Graph& graph, Output loss, const Feeds& feeds);

}  // namespace muster::train
