#include "train/result.h"

#include <algorithm>

#include "base/check.h"

namespace muster::train {

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kTargetReached: return "target_reached";
    case Outcome::kEpochsDone: return "epochs_done";
    case Outcome::kInterrupted: return "interrupted";
  }
  MUSTER_CHECK(false);
}

std::optional<double> TrainResult::time_to_accuracy() const {
  if (target_accuracy <= 0) return std::nullopt;
  for (const Evaluation& evaluation : evaluations)
    if (evaluation.test_accuracy >= target_accuracy) return evaluation.at_seconds;
  return std::nullopt;
}

const Evaluation* TrainResult::best() const {
  const auto best = std::ranges::max_element(evaluations, {}, &Evaluation::test_accuracy);
  return best == evaluations.end() ? nullptr : &*best;
}

double TrainResult::images_per_sec() const {
  return train_seconds > 0 ? static_cast<double>(images) / train_seconds : 0;
}

double TrainResult::input_wait_share() const { return train_seconds > 0 ? input_wait_seconds / train_seconds : 0; }

}  // namespace muster::train
