#pragma once

#include <string>
#include <vector>

#include "muster/saver.h"

namespace muster::train {

// The variables of a training graph that belong into a checkpoint, under the names that tf_cnn_benchmarks gives them,
// whatever command and mode built the graph, so that each can go on with the other's checkpoints:
//   "cg/conv0/biases", as "muster train" has it          → "v/cg/conv0/biases"
//   "beta1_power", state that all variables share         → "append_apply_gradient_ops/beta1_power"
// Synthetic images ("gpu_cached_inputs") and staged values, which each run makes anew, are left out. Where the mode
// keeps several copies that are always equal ("replicated": v0/…, v1/…), the first is saved and all are restored;
// "independent" copies are all saved. A checkpoint of another mode is understood: "v/…" and "v0/…" stand for each
// other, and the state that an optimizer shares is the same for any number of copies. The loss scale is optional: a
// checkpoint that was trained in another precision lacks it.
std::vector<SavedVariable> CheckpointVariables(const Graph& graph, bool copies_are_equal = false);

// The name that a model's variable has in checkpoints and in event files.
std::string CheckpointName(const std::string& name);

}  // namespace muster::train
