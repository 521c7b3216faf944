#pragma once

#include "train/result.h"

namespace muster::train {

// Something that watches training: the display on a terminal, and later the writers of checkpoints and TensorBoard
// files. The trainer calls its hooks in order, on the training thread; what a hook throws ends training.
class Hook {
 public:
  virtual ~Hook() = default;
  // Before the first step.
  virtual void Begin(const Progress& /*progress*/) {}
  // After each training step.
  virtual void AfterStep(const Progress& /*progress*/) {}
  // While the test images are evaluated: "done" of "total" batches.
  virtual void DuringEvaluation(const Progress& /*progress*/, int64_t /*done*/, int64_t /*total*/) {}
  virtual void AfterEvaluation(const Progress& /*progress*/, const Evaluation& /*evaluation*/) {}
  // After the last step, whatever ended the run but an exception.
  virtual void End(const TrainResult& /*result*/) {}
};

}  // namespace muster::train
