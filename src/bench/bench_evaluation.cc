// Evaluations: of the checkpoints of a folder (--eval), and while training pauses (--eval_during_training_*).

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/flags.h"
#include "base/interrupt.h"
#include "bench/bench_run.h"
#include "bench/output.h"
#include "bench/step_stats.h"
#include "train/checkpoint_hook.h"

namespace muster::bench {
namespace {

// False: Ctrl-C came.
bool SleepUnlessInterrupted(int64_t seconds) {
  constexpr std::chrono::milliseconds kNap(50);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!Interrupted() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kNap);
  return !Interrupted();
}

}  // namespace

// One round, or a round after each pause until Ctrl-C; a folder without a checkpoint may get one.
void BenchRun::EvaluateCheckpoints() {
  bool goes_on = true;
  for (bool is_first = true; goes_on; is_first = false) {
    if (!is_first) checkpoint_ = runner_->LoadCheckpoint();
    if (checkpoint_) {
      console_.Print(fmt::format("Successfully loaded model from {}.", checkpoint_->path));
      goes_on = EvaluateOnce(*checkpoint_);
    } else {
      const std::string folder = params_.train_dir.value_or("");
      console_.Print("Checkpoint not found in " + folder);
      if (const std::string note = train::UnlistedNote(folder, "train_dir"); !note.empty()) console_.Note(note);
    }
    if (params_.eval_interval_secs <= 0) break;
    console_.Progress(fmt::format("the next evaluation is in {} s", params_.eval_interval_secs));
    goes_on = goes_on && SleepUnlessInterrupted(params_.eval_interval_secs);
  }
  if (goes_on) return;
  record_.state = ExitState::kInterrupted;
  console_.Note(fmt::format("interrupted after {} evaluation{}", record_.evaluations.size(),
                            record_.evaluations.size() == 1 ? "" : "s"));
}

bool BenchRun::EvaluateOnce(const LoadedCheckpoint& checkpoint) {
  std::optional<EvaluationRecord> record =
      evaluator_.Evaluate(*runner_, checkpoint.global_step, log_ ? &*log_ : nullptr);
  if (!record) return false;
  record->checkpoint = checkpoint.path;
  record_.evaluations.push_back(*record);
  const TotalTiming total =
      ComputeTotal(static_cast<double>(derived_.eval_batch_size), record->num_batches, 1, record->seconds);
  for (const std::string& line : TotalLines(total.images_per_sec)) console_.Print(line);
  return true;
}

// "what": "evaluation" or "final evaluation". False: Ctrl-C came.
bool BenchRun::EvaluateNow(const char* what) {
  console_.Print(fmt::format("Running {} at global_step {}", what, global_step_));
  const std::optional<EvaluationRecord> record = evaluator_.Evaluate(*runner_, global_step_, log_ ? &*log_ : nullptr);
  if (record) record_.evaluations.push_back(*record);
  else record_.state = ExitState::kInterrupted;
  return record.has_value();
}

// After so many timed steps: evaluates if it is time to. False: training ends here.
bool BenchRun::PauseToEvaluate(int64_t steps) {
  if (!eval_schedule_.IsDue(steps, num_timed_)) return true;
  if (!EvaluateNow("evaluation")) return false;
  const double target = params_.stop_at_top_1_accuracy.value_or(0);
  stopped_at_target_ = target != 0 && record_.evaluations.back().accuracies.top_1 >= target;
  console_.Print(stopped_at_target_
                     ? fmt::format("Stopping, as eval accuracy at least {} was reached", PythonFloat(target))
                     : "Resuming training");
  return !stopped_at_target_;
}

void BenchRun::EvaluateAtEnd() {
  if (derived_.mode != Mode::kTrainingAndEvaluation) return;
  console_.Print("Done with training");
  if (!stopped_at_target_) EvaluateNow("final evaluation");
}

}  // namespace muster::bench
