#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/derived.h"
#include "base/process_memory.h"
#include "bench/machine.h"
#include "bench/step_runner.h"

namespace muster::bench {

// How a run ended.
enum class ExitState { kFinished, kInterrupted, kNotFinite, kFailed };
const char* ExitStateName(ExitState state);  // "finished", "interrupted", "not_finite", "failed"

// One step, warm-up or timed.
struct StepRecord {
  double wall_seconds = 0;
  float learning_rate = 0;
  StepResult result;
};

// One pass over the validation images.
struct EvaluationRecord {
  int64_t global_step = 0;
  std::string checkpoint;  // with --eval: what was evaluated
  Accuracies accuracies;
  int64_t num_batches = 0, examples = 0;
  double seconds = 0;
};

// Everything a result file says. Filled in by the loop as the run goes on, so that an early end has its result too.
struct RunRecord {
  std::vector<std::string> words;  // of the command line; empty for a run started from C++
  std::string started;             // UtcTimestamp
  ExitState state = ExitState::kFailed;
  std::string error;  // one line when the run did not finish
  PreparedRun prepared;
  double prepare_seconds = 0;  // building, compiling and initialising the model
  int64_t num_warmup_batches = 0;
  std::vector<StepRecord> warmup;
  std::vector<StepRecord> timed;
  double elapsed_seconds = 0;  // of the timed steps, first start to last end
  std::vector<EvaluationRecord> evaluations;
  ProcessMemory memory;
};

// The result as JSON (docs/bench_json.md describes every field).
std::string ResultJson(const BenchParams& params, const OwnParams& own, const Derived& derived,
                       const MachineFacts& machine, const RunRecord& record);

}  // namespace muster::bench
