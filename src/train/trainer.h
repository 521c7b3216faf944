#pragma once

#include <functional>
#include <vector>

#include "data/batch.h"
#include "data/prefetch.h"
#include "train/clock.h"
#include "train/hook.h"
#include "train/meters.h"
#include "train/train_step.h"

namespace muster::train {

struct TrainerOptions {
  int64_t num_epochs = 1;
  int64_t first_step = 0;          // steps that the engine has done already: the run goes on with the batch behind them
  double target_accuracy = 0;      // test accuracy that ends the run; 0: none
  double eval_every_n_epochs = 1;  // also evaluated: after the last step
  bool check_nan = true;           // a loss that is not finite is an error
  int prefetch_threads = 1;
  int prefetch_depth = 3;
  // Polled between steps. A step may also end early because of it, by throwing Error{Cancelled}; it then does not
  // count.
  std::function<bool()> interrupted = [] { return false; };
};

// The loop: steps over the training batches; evaluations of all test images; stops at the target, after the last epoch,
// or when interrupted. Everything but the times is a function of its inputs.
class Trainer {
 public:
  // Nothing is owned; everything must outlive the trainer.
  Trainer(TrainStep& step, const data::TrainBatches& train, const data::EvalBatches& test, TrainerOptions options,
          const Clock& clock, std::vector<Hook*> hooks);

  // Trains once. Throws Error naming step and layer if the loss stops being finite, and what steps, data and hooks
  // throw.
  TrainResult Run();

 private:
  int64_t StepOfEvaluation(int64_t number) const;
  Outcome TrainToTheEnd();
  bool TrainUntil(int64_t step, data::Prefetcher& input);
  void OneStep(const data::Batch& batch);
  void CheckFinite(double loss);
  bool Evaluate(data::Prefetcher& input);
  double EpochsDone() const;
  Progress CurrentProgress() const;
  void Finish(Outcome outcome);

  TrainStep& step_;
  const data::TrainBatches& train_;
  const data::EvalBatches& test_;
  TrainerOptions options_;
  const Clock& clock_;
  std::vector<Hook*> hooks_;
  int64_t total_steps_;

  TrainResult result_;
  LossMeter losses_;
  SpeedMeter speed_;
  StepResult last_;
  double last_train_seconds_ = 0;  // result_'s figures at the last evaluation
  double last_input_wait_seconds_ = 0;
};

}  // namespace muster::train
