#include "bench/eval_schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "base/flags.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

// A fraction of a step that only rounding made does not count.
int64_t RoundedUp(double steps) { return static_cast<int64_t>(std::ceil(std::min(steps - 1e-9, 9e18))); }

// The items of a list flag; "is_wrong" says of one what it is not.
template <typename T>
std::vector<T> Numbers(const char* name, const std::vector<std::string>& items, FlagType type,
                       const std::function<const char*(T)>& is_wrong) {
  std::vector<T> numbers;
  for (const std::string& item : items) {
    const auto refuse = [&](const char* what) {
      throw InvalidArgument(fmt::format("flag --{}={}: '{}' is not {}", name, fmt::join(items, ","), item, what));
    };
    T number = 0;
    try {
      number = std::get<T>(ParseFlagValue(FlagSpec{.name = name, .type = type}, item));
    } catch (const Error&) {
      refuse(type == FlagType::kInteger ? "a step number" : "a number of epochs");
    }
    if (const char* what = is_wrong(number)) refuse(what);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<int64_t> SpecifiedSteps(const BenchParams& params) {
  return Numbers<int64_t>("eval_during_training_at_specified_steps", params.eval_during_training_at_specified_steps,
                          FlagType::kInteger,
                          [](int64_t step) { return step < 1 ? "a step number: the first is 1" : nullptr; });
}

std::vector<double> SpecifiedEpochs(const BenchParams& params) {
  return Numbers<double>("eval_during_training_at_specified_epochs", params.eval_during_training_at_specified_epochs,
                         FlagType::kFloat, [](double epochs) {
                           return std::isfinite(epochs) && epochs > 0 ? nullptr
                                                                      : "a finite number of epochs greater than 0";
                         });
}

EvalSchedule::EvalSchedule(const BenchParams& params, const Derived& derived) {
  if (derived.mode != Mode::kTrainingAndEvaluation) return;
  const double steps_per_epoch =
      static_cast<double>(derived.dataset.train_images) / static_cast<double>(derived.global_batch_size());
  every_ = params.eval_during_training_every_n_steps.value_or(0);
  every_epochs_ = params.eval_during_training_every_n_epochs.value_or(0) * steps_per_epoch;
  for (int64_t step : SpecifiedSteps(params)) at_.insert(step);
  for (double epochs : SpecifiedEpochs(params)) at_.insert(RoundedUp(epochs * steps_per_epoch));
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
