#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "muster/error.h"
#include "train/nan_sign.h"

namespace muster::train {
namespace {

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

Trainer::Trainer(TrainStep& step, const data::TrainBatches& train, const data::EvalBatches& test,
                 TrainerOptions options, const Clock& clock, std::vector<Hook*> hooks)
    : step_(step),
      train_(train),
      test_(test),
      options_(std::move(options)),
      clock_(clock),
      hooks_(std::move(hooks)),
      total_steps_(train.BatchesOfEpochs(options_.num_epochs)) {}

TrainResult Trainer::Run() {
  result_ = {.target_accuracy = options_.target_accuracy,
             .first_step = options_.first_step,
             .steps = options_.first_step,
             .first_step_at_seconds = clock_.Seconds()};
  for (Hook* hook : hooks_) hook->Begin(CurrentProgress());
  Outcome outcome = Outcome::kInterrupted;
  try {
    outcome = TrainToTheEnd();
  } catch (const Error& error) {
    if (error.code() != Code::kCancelled || !options_.interrupted()) throw;
  }
  Finish(outcome);
  return result_;
}

// A run that was resumed begins with the evaluation that its first step is due for, if any: the run before may have
// ended in front of it.
Outcome Trainer::TrainToTheEnd() {
  data::Prefetcher input(
      train_, {.threads = options_.prefetch_threads, .depth = options_.prefetch_depth, .first = result_.steps});
  int64_t evaluation = 1;
  while (StepOfEvaluation(evaluation) < std::min(result_.steps, total_steps_)) ++evaluation;
  for (;;) {
    if (!TrainUntil(StepOfEvaluation(evaluation), input) || !Evaluate(input)) return Outcome::kInterrupted;
    if (result_.time_to_accuracy()) return Outcome::kTargetReached;
    if (result_.steps >= total_steps_) return Outcome::kEpochsDone;
    while (StepOfEvaluation(evaluation) <= result_.steps) ++evaluation;
  }
}

// The step that evaluation "number" (from 1) follows: the one that completes its share of epochs.
int64_t Trainer::StepOfEvaluation(int64_t number) const {
  const double images =
      static_cast<double>(number) * options_.eval_every_n_epochs * static_cast<double>(train_.dataset().size());
  const double steps = std::ceil(images / static_cast<double>(train_.batch_size()));
  return steps >= static_cast<double>(total_steps_) ? total_steps_ : static_cast<int64_t>(steps);
}

// False if interrupted.
bool Trainer::TrainUntil(int64_t step, data::Prefetcher& input) {
  while (result_.steps < step) {
    if (options_.interrupted()) return false;
    const double begin = clock_.Seconds();
    OneStep(*input.Next());
    const double seconds = clock_.Seconds() - begin;
    speed_.Add(train_.batch_size(), seconds);
    result_.train_seconds += seconds;
    result_.input_wait_seconds = input.wait_seconds();
    const Progress progress = CurrentProgress();
    for (Hook* hook : hooks_) hook->AfterStep(progress);
  }
  return true;
}

void Trainer::OneStep(const data::Batch& batch) {
  const StepResult result = step_.Train(batch);
  if (options_.check_nan) CheckFinite(result.loss);
  losses_.Add(result, train_.batch_size());
  last_ = result;
  ++result_.steps;
  result_.images += train_.batch_size();
}

void Trainer::CheckFinite(double loss) {
  if (std::isfinite(loss)) return;
  const std::string where = step_.ExplainNonFinite(result_.steps, train_);
  throw FailedPrecondition(fmt::format(
      "the loss of step {} is {}: {}; a smaller --init_learning_rate may help, --check_nan=false goes on regardless",
      result_.steps + 1, WithoutNanSign(loss), where));
}

// False if interrupted.
bool Trainer::Evaluate(data::Prefetcher& input) {
  const double begin = clock_.Seconds();
  const Progress progress = CurrentProgress();
  EvalResult sums;
  data::Prefetcher test(test_, {.threads = options_.prefetch_threads, .depth = options_.prefetch_depth});
  for (int64_t done = 0; const data::Batch* batch = test.Next(); ++done) {
    if (options_.interrupted()) return false;
    const EvalResult one = step_.Evaluate(*batch);
    sums.loss_sum += one.loss_sum;
    sums.correct += one.correct;
    for (Hook* hook : hooks_) hook->DuringEvaluation(progress, done + 1, test_.count());
  }

  if (options_.check_nan && !std::isfinite(sums.loss_sum))
    throw FailedPrecondition(
        fmt::format("the loss of the test images after step {} is {}: training has diverged; a smaller "
                    "--init_learning_rate may help, --check_nan=false goes on regardless",
                    result_.steps, WithoutNanSign(sums.loss_sum)));
  const double train_seconds = result_.train_seconds - last_train_seconds_;
  const double images = static_cast<double>(test_.dataset().size());
  const double end = clock_.Seconds();
  const Evaluation evaluation{.epoch = progress.epoch,
                              .step = result_.steps,
                              .train_loss = losses_.loss(),
                              .train_accuracy = losses_.accuracy(),
                              .test_loss = sums.loss_sum / images,
                              .test_accuracy = static_cast<double>(sums.correct) / images,
                              .learning_rate = last_.learning_rate,
                              .images_per_sec = Share(static_cast<double>(losses_.images()), train_seconds),
                              .train_seconds = train_seconds,
                              .eval_seconds = end - begin,
                              .input_wait_share = Share(input.wait_seconds() - last_input_wait_seconds_, train_seconds),
                              .at_seconds = end};
  result_.eval_seconds += evaluation.eval_seconds;
  result_.evaluations.push_back(evaluation);
  last_train_seconds_ = result_.train_seconds;
  last_input_wait_seconds_ = input.wait_seconds();
  losses_.Reset();
  for (Hook* hook : hooks_) hook->AfterEvaluation(progress, evaluation);
  return true;
}

// The last batch reaches beyond the last epoch; that is no part of an epoch anybody asked for.
double Trainer::EpochsDone() const {
  const double images = static_cast<double>(result_.steps) * static_cast<double>(train_.batch_size());
  const double passes = images / static_cast<double>(train_.dataset().size());
  return std::min(passes, static_cast<double>(options_.num_epochs));
}

Progress Trainer::CurrentProgress() const {
  const double elapsed = clock_.Seconds() - result_.first_step_at_seconds;
  return {.step = result_.steps,
          .total_steps = total_steps_,
          .epoch = EpochsDone(),
          .num_epochs = options_.num_epochs,
          .loss = losses_.loss(),
          .accuracy = losses_.accuracy(),
          .step_loss = last_.loss,
          .step_accuracy = static_cast<double>(last_.correct) / static_cast<double>(train_.batch_size()),
          .learning_rate = last_.learning_rate,
          .images_per_sec = speed_.images_per_sec(),
          .seconds_left = TimeLeft(result_.steps - result_.first_step, total_steps_ - result_.steps, elapsed)};
}

void Trainer::Finish(Outcome outcome) {
  result_.outcome = outcome;
  result_.epochs = EpochsDone();
  result_.end_at_seconds = clock_.Seconds();
  for (Hook* hook : hooks_) hook->End(result_);
}

}  // namespace muster::train
