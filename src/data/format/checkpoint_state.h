#pragma once

#include <string>
#include <vector>

namespace muster::data {

// The file "checkpoint" of a folder: which checkpoints are in it and which is the newest. Paths are as written there:
// those that Muster writes are relative to the folder, so that it may be moved.
struct CheckpointState {
  std::string newest;
  std::vector<std::string> all;  // oldest first, the newest included
};

inline constexpr char kCheckpointStateFile[] = "checkpoint";

// Throws NotFound if the folder has no such file, DataLoss naming the line if it is damaged.
CheckpointState ReadCheckpointState(const std::string& folder);
// Atomic.
void WriteCheckpointState(const std::string& folder, const CheckpointState& state);

// The text, as TensorFlow writes it; what is wrong with it throws DataLoss beginning with "name".
CheckpointState ParseCheckpointState(const std::string& text, const std::string& name);
std::string CheckpointStateText(const CheckpointState& state);

// A path of the state as seen from here: relative ones are below the folder.
std::string ResolveCheckpoint(const std::string& folder, const std::string& path);

}  // namespace muster::data
