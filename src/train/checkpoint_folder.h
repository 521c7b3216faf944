#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::train {

// What a folder of checkpoints holds, without a model.

// The name of checkpoints in their folder, as tf_cnn_benchmarks has it: "model.ckpt-<global step>".
inline constexpr char kCheckpointName[] = "model.ckpt";

// The checkpoints by their index files, newest first: those of the "checkpoint" file in its order, then others by the number at
// their end. A damaged or missing "checkpoint" file only changes the order. Throws NotFound if there is no such folder.
std::vector<std::string> CheckpointsIn(const std::string& folder);

// What is wrong with a checkpoint, as one line; nothing if all its checksums are right.
std::optional<std::string> WrongWithCheckpoint(const std::string& path);

// The newest checkpoint that is intact, "except" left out; nothing if there is none.
std::optional<std::string> NewestIntactCheckpoint(const std::string& folder, const std::string& except = "");

// Whether there are training's checkpoints ("model.ckpt-<global step>"), but no "checkpoint" file, which somebody lost.
bool HasUnlistedCheckpoints(const std::string& folder);

// The checkpoints that a path given by a user means: the path itself if it is a checkpoint's (with or without ".index"), all
// checkpoints of a folder. Throws NotFound if there are none.
std::vector<std::string> CheckpointsOf(const std::string& path);

// The step that a checkpoint's name ends in: 110 of "run/model.ckpt-110"; -1 without one.
int64_t StepOfCheckpoint(const std::string& path);

// Whether there is a checkpoint of this path.
bool CheckpointExists(const std::string& path);

}  // namespace muster::train
