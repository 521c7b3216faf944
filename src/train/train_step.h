#pragma once

#include <cstdint>
#include <string>

#include "data/batch.h"

namespace muster::train {

// What one training step computed before its update.
struct StepResult {
  double loss = 0;           // mean over the batch, weight decay included
  int64_t correct = 0;       // rows whose most likely class is the label
  double learning_rate = 0;  // of this step's update
};

// Sums over the valid rows of a batch.
struct EvalResult {
  double loss_sum = 0;
  int64_t correct = 0;
};

// The engine as the trainer sees it: one model with its optimizer. Used by one thread.
class TrainStep {
 public:
  virtual ~TrainStep() = default;

  // One update from all rows of the batch.
  virtual StepResult Train(const data::Batch& batch) = 0;
  // The model as it is, without dropout and with running averages in batch norm. Changes nothing.
  virtual EvalResult Evaluate(const data::Batch& batch) = 0;

  // Says where the loss of training step "step" (0 for the first) stopped being finite, for example "the output of
  // conv1/Conv2D holds NaN". Called once, right after Train returned that loss; the model is of no use afterwards.
  // Batch k of "batches" was the input of step k.
  virtual std::string ExplainNonFinite(int64_t step, const data::BatchSource& batches) = 0;
};

}  // namespace muster::train
