#include "train/summary.h"

#include <fmt/format.h>

namespace muster::train {
namespace {

std::string EpochsText(double epochs) { return fmt::format("{:.4g} epoch{}", epochs, epochs == 1 ? "" : "s"); }

std::string Headline(const TrainResult& result) {
  switch (result.outcome) {
    case Outcome::kTargetReached:
      return fmt::format("Reached the target test accuracy of {:.4g} in {:.1f} s.", result.target_accuracy,
                         *result.time_to_accuracy());
    case Outcome::kInterrupted: return "Interrupted.";
    case Outcome::kEpochsDone:
      if (result.target_accuracy > 0)
        return fmt::format("The target test accuracy of {:.4g} was not reached in {}.", result.target_accuracy,
                           EpochsText(result.epochs));
      return fmt::format("Trained for {}.", EpochsText(result.epochs));
  }
  return "";
}

void AddLine(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("  {:<18} {}\n", name, value);
}

}  // namespace

std::string SummaryText(const TrainResult& result) {
  std::string text = Headline(result) + "\n";
  if (const auto seconds = result.time_to_accuracy())
    AddLine(text, "time to accuracy",
            fmt::format("{:.2f} s from process start, {:.2f} s of it before the first step", *seconds,
                        result.first_step_at_seconds));
  if (const Evaluation* best = result.best())
    AddLine(text, "best test accuracy", fmt::format("{:.4f} after {:.2f} epochs", best->test_accuracy, best->epoch));
  AddLine(text, "epochs", fmt::format("{:.2f} ({} steps, {} images)", result.epochs, result.steps, result.images));
  if (result.first_step > 0)
    AddLine(text, "resumed", fmt::format("after step {}; what follows is of this run", result.first_step));
  AddLine(text, "training", fmt::format("{:.2f} s, {:.0f} images/s", result.train_seconds, result.images_per_sec()));
  AddLine(text, "input wait", fmt::format("{:.1f} % of training", 100 * result.input_wait_share()));
  const size_t times = result.evaluations.size();
  AddLine(text, "evaluation", fmt::format("{:.2f} s, {} time{}", result.eval_seconds, times, times == 1 ? "" : "s"));
  return text;
}

}  // namespace muster::train
