#pragma once

#include <cstdint>
#include <string>

#include "muster/saver.h"
#include "train/clock.h"
#include "train/hook.h"

namespace muster::train {

// When checkpoints are written, beside the one at the end. Both may be set; 0: not for that reason.
struct CheckpointOptions {
  std::string folder;        // must exist
  int64_t every_steps = 0;   // after steps that this divides
  double every_seconds = 0;  // and at the start, as tf.train.Supervisor does
};

// Decides when a checkpoint is due and writes it beside the training. For one thread. Nothing is owned.
class Checkpointer {
 public:
  Checkpointer(Saver& saver, Session& session, CheckpointOptions options, const Clock& clock);

  // Training begins with this many steps done, which are in a checkpoint already, in the folder or where they were
  // restored from, or are none.
  void Begin(int64_t step);
  // After a step. Throws what writing an earlier checkpoint threw.
  void AfterStep(int64_t step);
  // At the end, unless the last step has one. Waits until everything is written.
  void End(int64_t step);
  // Now, whether one is due or not.
  void Save(int64_t step);
  // The newest checkpoint that this object wrote; "": none.
  const std::string& newest() const { return newest_; }

 private:
  std::string PathOf(int64_t step) const;

  Saver& saver_;
  Session& session_;
  const CheckpointOptions options_;
  const Clock& clock_;
  int64_t saved_step_ = 0;  // of the newest checkpoint
  double saved_at_ = 0;
  std::string newest_;
};

// The same as a hook of the trainer.
class CheckpointHook : public Hook {
 public:
  explicit CheckpointHook(Checkpointer& checkpointer) : checkpointer_(checkpointer) {}
  void Begin(const Progress& progress) override { checkpointer_.Begin(progress.step); }
  void AfterStep(const Progress& progress) override { checkpointer_.AfterStep(progress.step); }
  void End(const TrainResult& result) override { checkpointer_.End(result.steps); }

 private:
  Checkpointer& checkpointer_;
};

// Restores the newest checkpoint of a folder, or "path" if it is not empty. Returns the path; "" if the folder has
// none. If the checkpoint is damaged the error also names the newest one that is intact and how to go on from it, with
// "flag" if not empty; if it cannot be read for another reason, the newest one that can.
std::string RestoreNewest(Saver& saver, Session& session, const std::string& folder, const std::string& path,
                          const std::string& flag);

// Of a folder that RestoreNewest found nothing in: that there are checkpoints which no "checkpoint" file lists, with
// the same end; "": there are none.
std::string UnlistedNote(const std::string& folder, const std::string& flag);

// The same before a training, which would replace them: throws DataLoss.
void CheckNothingIsUnlisted(const std::string& folder, const std::string& flag);

}  // namespace muster::train
