#include "bench/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/output_flags.h"
#include "base/standard_output.h"
#include "bench/bench_run.h"
#include "bench/checks.h"
#include "bench/eval_dir.h"
#include "bench/info_block.h"
#include "bench/later.h"
#include "bench/learning_rate.h"
#include "bench/output.h"
#include "bench/progress.h"
#include "bench/run_files.h"
#include "bench/step_stats.h"
#include "bench/strategy.h"
#include "bench/utc_timestamp.h"
#include "muster/error.h"

namespace muster::bench {

bool NanStops(const BenchParams& params, const OwnParams& own) {
  const bool chosen = params.init_learning_rate.has_value() || params.piecewise_learning_rate_schedule.has_value() ||
                      params.data_dir.has_value();
  return own.check_nan.value_or(chosen);
}

namespace {

constexpr char kTimed[] = "timed";

// No file may be another one, a folder, or what another flag writes into a folder.
void CheckDistinctOutputs(const BenchParams& params, const OwnParams& own) {
  const std::vector<std::pair<std::string, std::string>> files = {{"json", own.json.value_or("")},
                                                                  {"trace_file", params.trace_file},
                                                                  {"graph_file", params.graph_file.value_or("")},
                                                                  {"tfprof_file", params.tfprof_file.value_or("")}};
  CheckDistinctFiles(files);
  const auto check = [&](const char* flag, const std::string& folder, std::initializer_list<const char*> names) {
    if (folder.empty()) return;
    for (const char* name : names) {
      auto all = files;
      all.emplace_back(flag, *name == '\0' ? folder : folder + "/" + name);
      CheckDistinctFiles(all);
    }
  };
  check("dump_passes", own.dump_passes.value_or(""), {""});
  check("benchmark_log_dir", params.benchmark_log_dir.value_or(""), {"", "benchmark_run.log", "metric.log"});
  check("train_dir", params.train_dir.value_or(""), {"", "checkpoint", "graph.pbtxt"});
}

// Before anything is printed.
void CheckOutputs(const BenchParams& params, const OwnParams& own) {
  if (own.json) CheckJsonFlag("json", *own.json);
  if (own.dump_passes) CheckFolderFlag("dump_passes", *own.dump_passes);
  if (params.benchmark_log_dir) CheckFolderFlag("benchmark_log_dir", *params.benchmark_log_dir);
  RunFiles::Check(params);
  CheckDistinctOutputs(params, own);
  const bool only_reads = params.forward_only || params.eval;
  if (params.train_dir && (!only_reads || params.train_dir->empty())) CheckFolderFlag("train_dir", *params.train_dir);
  else if (params.train_dir) CheckNotAFile("train_dir", *params.train_dir);
  if (WritesEvalDir(params)) CheckFolderFlag("eval_dir", params.eval_dir);
}

}  // namespace

// Runs one step and records it. False: interrupted, the step does not count.
bool BenchRun::Step(const std::string& phase, std::vector<StepRecord>& records, int64_t total, double phase_start,
                    Timeline* timeline) {
  if (Interrupted()) return false;
  const int64_t done = static_cast<int64_t>(records.size());
  console_.Progress(ProgressLine(phase, done, total, clock_() - phase_start));
  StepRecord record;
  record.learning_rate = derived_.mode == Mode::kForwardOnly ? 0 : static_cast<float>(RateAt(rate_, global_step_));
  const StepInput input{global_step_, record.learning_rate, timeline, phase == kTimed ? done + 1 : 0};
  const double start = clock_();
  try {
    record.result = runner_->RunStep(input);
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled && Interrupted()) return false;
    throw;
  }
  record.wall_seconds = clock_() - start;
  if (derived_.mode == Mode::kForwardOnly) record.result.loss = 0;  // as the peer: there is no loss to show
  ++global_step_;
  records.push_back(record);
  CheckFinite(phase, done + 1, record);
  runner_->AfterStep(input, record.result);
  return true;
}

void BenchRun::CheckFinite(const std::string& phase, int64_t step, const StepRecord& record) {
  if (std::isfinite(record.result.loss)) return;
  const std::string what = fmt::format("loss is {} at {} step {} (step {} of all)",
                                       std::isnan(record.result.loss) ? "nan" : "infinite", phase, step, global_step_);
  if (!NanStops(params_, own_)) {
    if (!noted_not_finite_) {
      console_.Note(what + "; going on, since speed does not depend on it (--check_nan stops instead)");
    }
    noted_not_finite_ = true;
    return;
  }
  record_.state = ExitState::kNotFinite;
  const std::string where = runner_->FirstNonFinite();
  throw InvalidArgument(fmt::format("{}{}; try a smaller learning rate, or --check_nan=false to go on", what,
                                    where.empty() ? "" : ": " + where + " first"));
}

// The last warm-up step but one, as in the peer.
bool BenchRun::LastWarmUpStepButOne(double phase_start) {
  Timeline timeline;
  if (!Step("warm-up", record_.warmup, record_.num_warmup_batches, phase_start,
            files_.TracesWarmUp() ? &timeline : nullptr))
    return false;
  files_.AfterLastWarmUpButOne(*runner_, timeline);
  return true;
}

bool BenchRun::TimedStep(int64_t index, double phase_start) {
  if (!files_.Profiles(index)) return Step(kTimed, record_.timed, num_timed_, phase_start);
  Timeline timeline;
  if (!Step(kTimed, record_.timed, num_timed_, phase_start, &timeline)) return false;
  files_.AddToProfile(*runner_, index, timeline);
  return true;
}

void BenchRun::WarmUp() {
  runner_->Begin();
  console_.Print("Running warm up");
  files_.NoteShortWarmUp(record_.num_warmup_batches);
  const double start = clock_();
  record_.warmup.reserve(static_cast<size_t>(std::min<int64_t>(record_.num_warmup_batches, 1 << 20)));
  for (int64_t i = 0; i < record_.num_warmup_batches; ++i) {
    const bool is_last_but_one = i + 2 == record_.num_warmup_batches;
    if (!(is_last_but_one ? LastWarmUpStepButOne(start)
                          : Step("warm-up", record_.warmup, record_.num_warmup_batches, start))) {
      record_.state = ExitState::kInterrupted;
      return;
    }
  }
  console_.Print("Done warm up");
}

void BenchRun::TimedSteps() {
  console_.Print(StepHeader(params_));
  record_.timed.reserve(static_cast<size_t>(std::min<int64_t>(num_timed_, 1 << 20)));
  const double start = clock_();
  for (int64_t i = 0; i < num_timed_; ++i) {
    if (!TimedStep(i, start)) {
      record_.state = ExitState::kInterrupted;
      break;
    }
    timed_seconds_.push_back(record_.timed.back().wall_seconds);
    if (i == 0 || (i + 1) % params_.display_every == 0) PrintStep(i + 1, record_.timed.back());
    record_.elapsed_seconds = clock_() - start;  // printing included, as in the peer
    if (!PauseToEvaluate(i + 1)) break;
  }
}

void BenchRun::PrintStep(int64_t step, const StepRecord& record) {
  const PerfTiming timing =
      ComputePerfTiming(static_cast<double>(derived_.batch_size), timed_seconds_, params_.display_perf_ewma);
  std::optional<Accuracies> accuracies;
  if (ShowsAccuracy(params_)) accuracies = {record.result.top_1_accuracy, record.result.top_5_accuracy};
  console_.Print(StepLine(step, timing, record.result.loss, accuracies));
  if (!log_) return;
  log_->LogMetric("current_examples_per_sec", timing.images_per_sec, step);
  if (!accuracies) return;
  log_->LogMetric("top_1_accuracy", accuracies->top_1, step);
  log_->LogMetric("top_5_accuracy", accuracies->top_5, step);
}

void BenchRun::PrintTotal() {
  const int64_t steps = static_cast<int64_t>(record_.timed.size());
  if (record_.state == ExitState::kInterrupted && !running_) {
    console_.Note("interrupted before the first step");
    return;
  }
  if (record_.state == ExitState::kInterrupted) {
    console_.Note(fmt::format("interrupted after {} of {} warm-up and {} of {} timed steps", record_.warmup.size(),
                              record_.num_warmup_batches, steps, num_timed_));
    if (steps == 0) return;
  }
  if (derived_.mode == Mode::kTrainingAndEvaluation)
    return;  // pauses are in the time: there is no total in the peer either
  const TotalTiming total =
      ComputeTotal(static_cast<double>(derived_.batch_size), steps, derived_.num_workers, record_.elapsed_seconds);
  for (const std::string& line : TotalLines(total.images_per_sec)) console_.Print(line);
  if (log_) log_->LogMetric("average_examples_per_sec", total.images_per_sec, steps * derived_.num_workers);
}

// How long steps waited for real images.
void BenchRun::NoteInput() {
  if (derived_.synthetic || record_.timed.empty()) return;
  double waited = 0, all = 0;
  for (const StepRecord& step : record_.timed) {
    waited += step.result.input_seconds;
    all += step.wall_seconds;
  }
  const double steps = static_cast<double>(record_.timed.size());
  console_.Note(fmt::format("input: a step of {:.1f} ms waited {:.2f} ms for its images ({:.1f} %)", all / steps * 1e3,
                            waited / steps * 1e3, all > 0 ? waited / all * 100 : 0));
}

void BenchRun::EndTraining() {
  const std::string checkpoint = runner_->End(global_step_);
  if (record_.state != ExitState::kInterrupted || !params_.train_dir || params_.forward_only) return;
  console_.Note(checkpoint.empty()
                    ? "nothing is saved: no step was done"
                    : fmt::format("the newest checkpoint is {} ({} steps done)", checkpoint, global_step_));
}

void BenchRun::WriteResult() {
  console_.Progress("");
  record_.memory = ReadProcessMemory();
  if (own_.json) WriteFileAtomically(*own_.json, ResultJson(params_, own_, derived_, machine_, record_));
}

// What ended the run matters more than a result file that cannot be written either.
void BenchRun::WriteResultOfFailure() {
  console_.Progress("");
  if (!running_) return;
  try {
    WriteResult();
  } catch (const Error& error) {
    console_.Note(error.what());
  }
}

BenchResult BenchRun::Run(const StepRunnerFactory& factory) {
  machine_ = ReadMachineFacts();
  try {
    for (const std::string& line : InfoBlock(params_, derived_)) console_.Print(line);
    CheckEvaluation(params_);
    if (PrepareUnlessInterrupted(factory)) {
      record_.state = ExitState::kFinished;
      files_.WriteGraph(*runner_);
      if (derived_.mode == Mode::kEvaluation) EvaluateCheckpoints();
      else if (num_timed_ > 0) WarmUp();
      else NoteNothingLeft();
    }
    if (!running_ || (derived_.mode != Mode::kEvaluation && num_timed_ > 0)) {
      if (record_.state == ExitState::kFinished) TimedSteps();
      if (record_.state == ExitState::kFinished) EvaluateAtEnd();
      PrintTotal();
      NoteInput();
      if (running_) EndTraining();
      files_.WriteProfile();
    }
  } catch (const OutputError& error) {
    running_ = true;  // nothing was wrong with the request, and the result file may still be read
    record_.state = ExitState::kFailed;
    record_.error = error.what();
    WriteResultOfFailure();
    throw;
  } catch (const std::exception& error) {
    if (record_.state != ExitState::kNotFinite) record_.state = ExitState::kFailed;
    record_.error = error.what();
    WriteResultOfFailure();
    throw;
  }
  WriteResult();

  BenchResult result;
  result.state = record_.state;
  result.num_workers = derived_.num_workers;
  result.num_steps = static_cast<int64_t>(record_.timed.size()) * derived_.num_workers;
  const TotalTiming total =
      ComputeTotal(static_cast<double>(derived_.batch_size), static_cast<int64_t>(record_.timed.size()),
                   derived_.num_workers, record_.elapsed_seconds);
  result.average_wall_time = total.average_wall_time;
  result.images_per_sec = total.images_per_sec;
  if (derived_.mode == Mode::kEvaluation && !record_.evaluations.empty()) {
    const EvaluationRecord& last = record_.evaluations.back();
    const TotalTiming evaluation =
        ComputeTotal(static_cast<double>(derived_.eval_batch_size), last.num_batches, 1, last.seconds);
    result.num_steps = last.num_batches;
    result.average_wall_time = evaluation.average_wall_time;
    result.images_per_sec = evaluation.images_per_sec;
  }
  if (!record_.timed.empty()) result.last_average_loss = record_.timed.back().result.loss;
  if (!record_.evaluations.empty()) result.accuracies = record_.evaluations.back().accuracies;
  return result;
}

BenchResult Run(const BenchParams& params, const OwnParams& own, const StepRunnerFactory& factory,
                Surroundings surroundings) {
  CheckParams(params);
  const bool lacks_checkpoint = params.eval && !params.train_dir;
  if (!lacks_checkpoint) CheckSupported(params, own);
  const Derived derived = Derive(params);
  CheckOutputs(params, own);
  return BenchRun(params, own, derived, surroundings).Run(factory);
}

}  // namespace muster::bench
