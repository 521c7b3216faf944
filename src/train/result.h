#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace muster::train {

// All times are in seconds; "at" times count from the start of the process.

// How far training is.
struct Progress {
  int64_t step = 0;         // steps done
  int64_t total_steps = 0;  // of the whole run if no target ends it
  double epoch = 0;         // epochs done, with the fraction of the one in work; at most num_epochs
  int64_t num_epochs = 0;
  double loss = 0;           // mean since the last evaluation
  double accuracy = 0;       // of the training batches since the last evaluation
  double step_loss = 0;      // of the last step
  double step_accuracy = 0;  // of its batch
  double learning_rate = 0;
  double images_per_sec = 0;  // recently
  double seconds_left = 0;    // to the end of all epochs at the pace so far
};

// One evaluation of the test images, and the training since the one before.
struct Evaluation {
  double epoch = 0;
  int64_t step = 0;
  double train_loss = 0;
  double train_accuracy = 0;
  double test_loss = 0;
  double test_accuracy = 0;
  double learning_rate = 0;
  double images_per_sec = 0;  // of training
  double train_seconds = 0;   // training since the last evaluation
  double eval_seconds = 0;
  double input_wait_share = 0;  // part of train_seconds
  double at_seconds = 0;        // when the evaluation was done
};

enum class Outcome {
  kTargetReached,
  kEpochsDone,   // without reaching the target, or without a target
  kInterrupted,  // by Ctrl-C
};
const char* OutcomeName(Outcome outcome);  // "target_reached", "epochs_done", "interrupted"

// A whole run.
struct TrainResult {
  Outcome outcome = Outcome::kEpochsDone;
  double target_accuracy = 0;        // 0: none
  int64_t first_step = 0;            // steps that an earlier run had done: this one was resumed
  int64_t steps = 0;                 // those included
  int64_t images = 0;                // of this run; all of the last batch, which may reach beyond the last epoch
  double epochs = 0;                 // at most those asked for
  double first_step_at_seconds = 0;  // when the first step began
  double end_at_seconds = 0;
  double train_seconds = 0;
  double eval_seconds = 0;
  double input_wait_seconds = 0;
  std::vector<Evaluation> evaluations;

  // When the first evaluation at or above the target was done; none: not reached, or no target.
  std::optional<double> time_to_accuracy() const;
  // The evaluation with the highest test accuracy, the first of equals; null without one.
  const Evaluation* best() const;
  double images_per_sec() const;
  double input_wait_share() const;
};

}  // namespace muster::train
