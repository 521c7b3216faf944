// From checked parameters to the first step.

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/interrupt.h"
#include "bench/bench_run.h"
#include "bench/checks.h"
#include "bench/later.h"
#include "bench/learning_rate.h"
#include "bench/strategy.h"
#include "muster/error.h"

namespace muster::bench {

// Ctrl-C before the first step: there is nothing to show, but a result that says so. Otherwise the run may begin.
bool BenchRun::PrepareUnlessInterrupted(const StepRunnerFactory& factory) {
  try {
    Prepare(factory);
    return true;
  } catch (const Error& error) {
    if (error.code() != Code::kCancelled || !Interrupted()) throw;
  }
  record_.state = ExitState::kInterrupted;
  return false;
}

// Notes come at the end, so that what refuses the request is the only line on standard error.
void BenchRun::Prepare(const StepRunnerFactory& factory) {
  const double start = clock_();
  const bool only_evaluates = derived_.mode == Mode::kEvaluation;
  if (!only_evaluates) console_.Print("Generating training model");
  if (derived_.evaluates()) console_.Print("Generating evaluation model");
  rate_ = MakeSchedule(params_, derived_.model, derived_.dataset.train_images, derived_.batch_size,
                       SummedTowers(params_, own_));
  CheckSchedule(rate_);
  runner_ = factory({params_, own_, derived_});
  ThrowIfInterrupted();
  // Folders were checked before; each is created only when it is about to get its files, so that a request that is
  // refused while it is prepared leaves none behind.
  if (own_.dump_passes) CreateWritableFolder(*own_.dump_passes);
  if (!only_evaluates) console_.Print("Initializing graph");
  console_.Progress("compiling the plan");
  const int64_t rounded = RoundUpWarmup(record_.num_warmup_batches, params_.batch_group_size);
  if (!only_evaluates && rounded != record_.num_warmup_batches) {
    record_.num_warmup_batches = rounded;
    console_.Print(fmt::format("Round up warm up steps to {} to match batch_group_size", rounded));
  }
  record_.prepared = runner_->Prepare();
  ThrowIfInterrupted();
  if (only_evaluates) checkpoint_ = runner_->LoadCheckpoint();
  else global_step_ = runner_->Resume();
  // Steps that were trained before count, those that only run forward do not.
  const int64_t trained = derived_.mode == Mode::kForwardOnly ? 0 : global_step_ / derived_.num_workers;
  num_timed_ = std::max<int64_t>(derived_.num_batches - trained, 0);
  record_.prepare_seconds = clock_() - start;
  running_ = true;
  for (const std::string& note : notes_) console_.Note(note);
  if (const std::string note = NoEffectNote(params_, own_); !note.empty()) console_.Note(note);
  const auto mib = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  console_.Note(
      fmt::format("memory plan: peak {:.1f} MiB, {:.1f} of them counted against the host's limit; {} thread{}",
                  mib(record_.prepared.planned_peak_bytes), mib(record_.prepared.counted_bytes),
                  record_.prepared.num_threads, record_.prepared.num_threads == 1 ? "" : "s"));
  if (!record_.prepared.memory_note.empty()) console_.Note(record_.prepared.memory_note);
  if (!record_.prepared.precision_note.empty()) console_.Note(record_.prepared.precision_note);
  for (const std::string& note : record_.prepared.input_notes) console_.Note(note);
  if (!record_.prepared.recompute_note.empty()) console_.Note(record_.prepared.recompute_note);
  if (const std::string note = runner_->ResumeNote(); !note.empty()) console_.Note(note);
  if (!params_.benchmark_log_dir) return;
  log_.emplace(*params_.benchmark_log_dir);
  log_->LogRun(params_, derived_, machine_);
}

// Warm-up steps would train, too.
void BenchRun::NoteNothingLeft() {
  console_.Note(fmt::format(
      "nothing is left to do: {} has {} steps, and --num_batches={} counts those of earlier runs; nothing was written",
      params_.train_dir.value_or("the run"), global_step_, derived_.num_batches));
}

}  // namespace muster::bench
