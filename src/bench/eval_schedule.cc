#include "bench/eval_schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace muster::bench {
namespace {

// A fraction of a step that only rounding made does not count.
int64_t RoundedUp(double steps) { return static_cast<int64_t>(std::ceil(std::min(steps - 1e-9, 9e18))); }

}  // namespace

EvalSchedule::EvalSchedule(const BenchParams& params, const Derived& derived) {
  if (derived.mode != Mode::kTrainingAndEvaluation) return;
  const double steps_per_epoch = static_cast<double>(derived.dataset.train_images) / static_cast<double>(derived.global_batch_size());
  every_ = params.eval_during_training_every_n_steps.value_or(0);
  every_epochs_ = params.eval_during_training_every_n_epochs.value_or(0) * steps_per_epoch;
  for (const std::string& step : params.eval_during_training_at_specified_steps) at_.insert(std::stoll(step));
  for (const std::string& epoch : params.eval_during_training_at_specified_epochs) at_.insert(RoundedUp(std::stod(epoch) * steps_per_epoch));
}

bool EvalSchedule::IsDue(int64_t steps, int64_t all_steps) const {
  if (steps >= all_steps) return false;
  if (every_ > 0 && steps % every_ == 0) return true;
  // The step that completes a multiple of the period.
  if (every_epochs_ > 0) {
    const double periods = std::floor(static_cast<double>(steps) / every_epochs_ + 1e-9);
    if (periods >= 1 && RoundedUp(periods * every_epochs_) == steps) return true;
  }
  return at_.count(steps) > 0;
}

}  // namespace muster::bench
