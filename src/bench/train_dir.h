#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/step_plans.h"
#include "bench/step_runner.h"
#include "bench/train_graph.h"
#include "muster/saver.h"
#include "muster/session.h"
#include "train/checkpoint_hook.h"
#include "train/summary_writer.h"

namespace muster::bench {

// train::RestoreNewest, with errors that name the flag.
std::string RestoreFromTrainDir(Saver& saver, Session& session, const std::string& folder, const std::string& path,
                                const std::string& way_on);

// What a benchmark does with --train_dir: goes on from the newest checkpoint there, writes checkpoints every
// --save_model_steps timed steps, every --save_model_secs and at the end, and event files every --save_summaries_steps
// timed steps, under tf_cnn_benchmarks' names. A forward-only run only reads. For one thread; everything handed in must
// outlive it.
class TrainDir {
 public:
  // "compute_gradients": the plan of StepPlans.
  TrainDir(const BenchParams& params, const Derived& derived, const TrainGraph& graph, Session& session,
           Runner* compute_gradients);

  // After the variables have their first values. Returns the steps that the checkpoint had done; 0: there is none.
  int64_t Restore();
  // After it: what the checkpoint lacked and what stands in, or why a forward-only run found none in a folder that has
  // some; "": nothing.
  std::string RestoreNote() const;
  // In front of the first step: makes the folder, and in it graph.pbtxt and an event file if there are to be summaries.
  void Begin();
  // In front of a step: if its summary wants gradients, computes them apart, which changes nothing; if it wants images,
  // shows the first that the first tower gets. "fed": the step's images and labels, as in TrainGraph::inputs; empty:
  // synthetic ones.
  void BeforeStep(const StepInput& input, const std::vector<Tensor>& fed);
  // The timeline that the step is to fill because its summary wants times and memory; null: none does. The first
  // summary has them, and from level 2 on each.
  Timeline* TimelineFor(const StepInput& input);
  void AfterStep(const StepInput& input, const StepResult& result);
  // The curves of an evaluation, if there is an event file.
  void WriteEvaluation(int64_t global_step, const Accuracies& accuracies);
  // At the end, after "steps" steps in all. Returns the newest checkpoint, "" if there is none.
  std::string End(int64_t steps);

 private:
  bool IsSummarised(const StepInput& input) const;
  void WriteSummary(const StepInput& input, const StepResult& result);
  void WriteHistograms(int64_t step);

  const BenchParams& params_;
  const Derived& derived_;
  const TrainGraph& graph_;
  Session& session_;
  train::ProcessClock clock_;
  Saver saver_;
  train::Checkpointer checkpointer_;

  std::string restored_;  // the checkpoint that the run goes on from
  std::optional<train::SummaryWriter> summaries_;
  Runner* const compute_gradients_;  // null: not wanted
  std::vector<Variable> watched_;    // variables of the gradients
  std::vector<Tensor> gradients_;    // of the last step that was summarised
  Timeline timeline_;                // of the same step, if it has one
  double summarised_at_ = 0;
  int64_t summarised_step_ = 0;
};

}  // namespace muster::bench
