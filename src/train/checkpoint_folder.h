#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/error.h"

namespace muster::train {

// What a folder of checkpoints holds, without a model.

// The name of checkpoints in their folder, as tf_cnn_benchmarks has it: "model.ckpt-<global step>".
inline constexpr char kCheckpointName[] = "model.ckpt";

// The checkpoints by their index files, newest first: those of the "checkpoint" file in its order, then others by the
// number at their end. A damaged or missing "checkpoint" file only changes the order. Throws NotFound if there is no
// such folder.
std::vector<std::string> CheckpointsIn(const std::string& folder);

// What is wrong with a checkpoint; nothing if all its checksums are right.
std::optional<Error> WrongWithCheckpoint(const std::string& path);

// Whether this, which came of reading a checkpoint or a list of them, says that files are damaged or gone. Else they
// may be as good as ever: what forbids to read them, files that are open already, a disk that fails for a moment.
bool IsDamage(const Error& error);

// The newest checkpoint of a folder that is intact, and what is newer.
struct IntactCheckpoint {
  std::string path;                  // "": none is
  std::vector<std::string> damaged;  // newest first
  std::vector<std::string> unread;   // what is wrong with them is no damage
};

// "broken", if not empty, counts as damaged and as the newest, wherever it is.
IntactCheckpoint NewestIntactCheckpoint(const std::string& folder, const std::string& broken);

// Removes a checkpoint's files, the index first: what is left if the process ends meanwhile is none.
void RemoveCheckpoint(const std::string& path);

// Removes what killed runs left of checkpoints "<name>-<step>" in a folder: data and graphs without an index, which
// nobody can read. Those of "newest", if not empty, stay: its index was lost in another way.
void RemoveRemnants(const std::string& folder, const std::string& name, const std::string& newest);

// Whether there are training's checkpoints ("model.ckpt-<global step>"), but no "checkpoint" file, which somebody lost.
bool HasUnlistedCheckpoints(const std::string& folder);

// What makes a checkpoint of the folder the newest of its list: "write 'model_checkpoint_path: "model.ckpt-10"' into
// run/checkpoint".
std::string HowToList(const std::string& folder, const std::string& path);

// The checkpoints that a path given by a user means: the path itself if it is a checkpoint's (with or without
// ".index"), all checkpoints of a folder. Throws NotFound if there are none.
std::vector<std::string> CheckpointsOf(const std::string& path);

// The step that a checkpoint's name ends in: 110 of "run/model.ckpt-110"; -1 without one.
int64_t StepOfCheckpoint(const std::string& path);

// Whether there is a checkpoint of this path.
bool CheckpointExists(const std::string& path);

}  // namespace muster::train
