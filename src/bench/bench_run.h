#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark_log.h"
#include "bench/eval_schedule.h"
#include "bench/evaluator.h"
#include "bench/learning_rate.h"
#include "bench/loop.h"
#include "bench/run_files.h"
#include "bench/utc_timestamp.h"

namespace muster::bench {

// One run from checked parameters to its end.
class BenchRun {
 public:
  BenchRun(const BenchParams& params, const OwnParams& own, const Derived& derived, Surroundings& around)
      : params_(params),
        own_(own),
        derived_(derived),
        console_(around.console),
        clock_(around.clock),
        notes_(around.notes),
        files_(params, around.console),
        eval_schedule_(params, derived),
        evaluator_(params, derived, console_, clock_) {
    record_.words = around.words;
    record_.started = UtcTimestamp();
    record_.num_warmup_batches = derived.num_warmup_batches;
  }

  BenchResult Run(const StepRunnerFactory& factory);

 private:
  bool PrepareUnlessInterrupted(const StepRunnerFactory& factory);
  void Prepare(const StepRunnerFactory& factory);
  void NoteNothingLeft();
  void WarmUp();
  bool LastWarmUpStepButOne(double phase_start);
  bool TimedStep(int64_t index, double phase_start);
  void TimedSteps();
  bool Step(const std::string& phase, std::vector<StepRecord>& records, int64_t total, double phase_start,
            Timeline* timeline = nullptr);
  void CheckFinite(const std::string& phase, int64_t step, const StepRecord& record);
  void PrintStep(int64_t step, const StepRecord& record);

  // bench_evaluation.cc
  void EvaluateCheckpoints();
  bool EvaluateOnce(const LoadedCheckpoint& checkpoint);
  bool EvaluateNow(const char* what);
  bool PauseToEvaluate(int64_t steps);
  void EvaluateAtEnd();

  void PrintTotal();
  void NoteInput();
  // The last checkpoint; after Ctrl-C, which one it is.
  void EndTraining();
  void WriteResult();
  void WriteResultOfFailure();

  const BenchParams& params_;
  const OwnParams& own_;
  const Derived& derived_;
  Console& console_;
  const std::function<double()>& clock_;
  const std::vector<std::string>& notes_;
  RunFiles files_;
  const EvalSchedule eval_schedule_;
  const Evaluator evaluator_;

  std::optional<BenchmarkLog> log_;
  Schedule rate_;
  std::unique_ptr<StepRunner> runner_;
  MachineFacts machine_;
  RunRecord record_;
  std::vector<double> timed_seconds_;
  std::optional<LoadedCheckpoint> checkpoint_;  // --eval: the one of the next round
  int64_t global_step_ = 0;                     // done, those of the run that this one goes on from included
  int64_t num_timed_ = 0;  // num_batches is the aim of both runs together, whose warm-up steps count (as in the peer)
  bool noted_not_finite_ = false;
  bool stopped_at_target_ = false;  // --stop_at_top_1_accuracy
  bool running_ = false;            // the model was prepared: from now on there is a result
};

}  // namespace muster::bench
