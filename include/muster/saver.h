#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "muster/session.h"

namespace muster {

// One variable of a checkpoint.
struct SavedVariable {
  Output ref;
  std::string name;                      // in the checkpoint
  std::vector<std::string> other_names;  // tried in this order when a checkpoint that is read lacks "name"
  bool is_optional = false;              // keeps its value when a checkpoint lacks it under any name
};

struct SaverOptions {
  int max_to_keep = 5;           // of the checkpoints in a folder; older ones are removed. 0: all stay
  bool write_meta_graph = true;  // the graph beside each checkpoint (".meta"), as TensorFlow does
};

// Saves and restores variables in TensorFlow's checkpoint format, version 2 (tf.train.Saver). A checkpoint appears
// whole or not at all, whatever kills the process or fills the disk: files are written under temporary names, synced
// and renamed, and the folder's "checkpoint" file, which tells the newest, comes last (before a folder's first
// checkpoint instead, so that only a folder that lost it has none). Used by one thread. The graph must outlive it.
class Saver {
 public:
  // All variables of the graph under their own names.
  explicit Saver(const Graph* graph, SaverOptions options = {});
  // These. Two may have one name (copies of a variable on several devices): the first is saved, all are restored.
  Saver(const Graph* graph, std::vector<SavedVariable> variables, SaverOptions options = {});
  // Waits for a checkpoint that is being written.
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Writes "<prefix>-<global_step>", or "<prefix>" without a step, and returns that path. Checkpoints that the folder
  // has already count for max_to_keep. Throws Error naming the file; the checkpoints before are then as they were. If
  // it is the "checkpoint" file that cannot be written, the new checkpoint stays beside them, and the error says so.
  std::string Save(Session& session, const std::string& prefix, std::optional<int64_t> global_step = {});
  // The same, but only the copy of the variables is made before it returns; a thread writes it. If the one before is
  // still being written, waits for that first. What fails is thrown by the next call of any function of this saver.
  std::string SaveInBackground(Session& session, const std::string& prefix, std::optional<int64_t> global_step = {});
  // Until nothing is being written.
  void Wait();

  // Gives the variables the values of a checkpoint, all or, if anything is wrong with it, none. If "global_step" is
  // among them the session's step number, which keys random streams, becomes its value, so that a run goes on as if it
  // had never ended. Throws NotFound if the files or a variable are missing, InvalidArgument if a type or shape
  // differs, DataLoss if the checkpoint is damaged or its global_step is below 0: one line naming file, tensor and
  // byte.
  void Restore(Session& session, const std::string& path);
  // The optional variables that the checkpoint which was restored last lacks.
  const std::vector<std::string>& missing() const;

  // The newest checkpoint of a folder by its "checkpoint" file: the path for Restore; "" if there is none. Passes over
  // those whose files are gone. Throws DataLoss if the "checkpoint" file is damaged.
  static std::string LatestCheckpoint(const std::string& folder);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster
