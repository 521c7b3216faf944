#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/derived.h"
#include "bench/params.h"
#include "muster/graph.h"
#include "muster/plan_stats.h"
#include "muster/timeline.h"

namespace muster::bench {

// What the engine knows once the model is compiled, before the first step.
struct PreparedRun {
  int64_t planned_peak_bytes = 0;        // plan of all devices, and what the program holds besides
  int64_t counted_bytes = 0;             // the part of it that is compared with the host's limit: what the plans take
  int64_t num_threads = 0;               // compute threads in use, of each device
  std::vector<DeviceBytes> memory;       // what the plan needs on each device
  std::string memory_note;               // about the limit; "": nothing to say
  std::string precision_note;            // how half precision is computed; "": on the device's own instructions
  std::vector<std::string> input_notes;  // what to know about real images
  std::string recompute_note;            // what recomputation adds to each step; "": nothing
  std::vector<std::pair<std::string, std::string>> libraries;  // name, version: {"oneDNN", "3.2.0"}
};

// One step's order: the global step (counts warm-up steps too, from 0) and the learning rate to apply in it.
struct StepInput {
  int64_t global_step = 0;
  float learning_rate = 0;
  Timeline* timeline = nullptr;  // unless null: gets a span for each operation of the step
  int64_t timed_step = 0;        // number of the timed step, from 1; 0 in the warm-up
};

// What a step gave. The times are parts of the step as the engine measured them (StepTimes in muster/plan_stats.h);
// their sum may stay below the step's wall time. A step without gradients has no update, one device no exchange.
struct StepResult {
  double loss = 0;  // loss_type_to_report of the batch, before the update
  double top_1_accuracy = 0;
  double top_5_accuracy = 0;  // both 0..1, filled in when print_training_accuracy or forward_only is set
  double input_seconds = 0;
  double compute_seconds = 0;
  double exchange_seconds = 0;
  double update_seconds = 0;
};

// Shares of images, 0 to 1.
struct Accuracies {
  double top_1 = 0;
  double top_5 = 0;
};

// A checkpoint that an evaluation is of.
struct LoadedCheckpoint {
  std::string path;
  int64_t global_step = 0;
};

// The engine as the benchmark loop sees it. All calls come from one thread, in the order construct, Prepare, Resume,
// Begin, (RunStep, AfterStep, (Evaluate*, AfterEvaluation)?)*, End; with --eval construct, Prepare, (LoadCheckpoint,
// Evaluate*, AfterEvaluation)*, End. Errors are thrown as Error. A request that cannot fit memory throws from Prepare
// with code ResourceExhausted and says which batch size would fit.
class StepRunner {
 public:
  virtual ~StepRunner() = default;

  // Compiles the plan, allocates and initialises: what the peer calls "Initializing graph". May give up like RunStep.
  virtual PreparedRun Prepare() = 0;

  // Runs one step to its end. May look at Interrupted() (base/interrupt.h) while it runs and give up by throwing Error
  // with code Cancelled, so that Ctrl-C need not wait for a long step; the loop then does not count this step.
  virtual StepResult RunStep(const StepInput& input) = 0;

  // The graph with the device of each operation, for --graph_file: a GraphDef, binary or as text.
  virtual std::string GraphDef(bool as_text) = 0;

  // What each device computes after all optimizations, by device (Runner::PartitionGraphs). Only if
  // NeedsPartitionGraphs of run_files.h says so.
  virtual std::vector<Graph> PartitionGraphs() { return {}; }

  // After Prepare, with --train_dir: goes on from the newest checkpoint there. Returns the steps that it had done; 0:
  // none.
  virtual int64_t Resume() { return 0; }
  // After Resume: what the checkpoint lacked, or why there is none in a folder that has some; "": nothing.
  virtual std::string ResumeNote() { return ""; }
  // There are steps to run: what they write to may be made.
  virtual void Begin() {}
  // After a step that counts and whose loss was finite (or that does not matter): a checkpoint or a summary may be due.
  virtual void AfterStep(const StepInput& /*input*/, const StepResult& /*result*/) {}
  // After the last step, "steps" in all with those that were resumed from: the last checkpoint. Returns its path, or
  // that of the one which still is the newest; "": there is none.
  virtual std::string End(int64_t /*steps*/) { return ""; }

  // Evaluations, with --eval or --eval_during_training_*: the part of batch number "batch" whose label is the best, and
  // among the five best, guess. Leaves the training as it is. May give up like RunStep.
  virtual Accuracies Evaluate(int64_t /*batch*/) { return {}; }
  // With --eval, after Prepare: gives the variables the values of a checkpoint. Nothing if there is none.
  virtual std::optional<LoadedCheckpoint> LoadCheckpoint() { return std::nullopt; }
  // After an evaluation: its curves.
  virtual void AfterEvaluation(int64_t /*global_step*/, const Accuracies& /*accuracies*/) {}

  // After a step whose loss was not finite: where the first value that is not finite appears when that step is run
  // again, as a sentence for the error message ("the output of v/fc/MatMul (MatMul) holds -inf"); "" if that cannot be
  // told.
  virtual std::string FirstNonFinite() = 0;
};

// Builds the model's graph: what the peer calls "Generating training model".
struct RunnerRequest {
  const BenchParams& params;
  const OwnParams& own;
  const Derived& derived;
};
using StepRunnerFactory = std::function<std::unique_ptr<StepRunner>(const RunnerRequest&)>;

}  // namespace muster::bench
