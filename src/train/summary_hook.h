#pragma once

#include <cstdint>
#include <string>

#include "train/graph_train_step.h"
#include "train/hook.h"
#include "train/summary_writer.h"

namespace muster::train {

// Writes an event file for TensorBoard while a model trains, every so many steps:
//   verbosity 1: loss, accuracy and learning rate of the step, images per second; the graph, and after each evaluation
//   its figures;
//                once, time and memory of each operation
//             2: also one histogram of the logarithms of all gradients; time and memory each time
//             3: also a histogram of each variable's gradient and of its values, and the first images of the batch
// Where, how much and how often is in the options, with which the step was made. The step must outlive it.
class SummaryHook : public Hook {
 public:
  SummaryHook(GraphTrainStep& step, const TrainOptions& options);

  void Begin(const Progress& progress) override;
  void AfterStep(const Progress& progress) override;
  void AfterEvaluation(const Progress& progress, const Evaluation& evaluation) override;
  void End(const TrainResult& result) override;

 private:
  void TraceIfWanted(int64_t next_step);
  void Summarise(const Progress& progress);
  void WriteHistograms(int64_t step);

  GraphTrainStep& step_;
  const int64_t verbosity_;
  const int64_t every_steps_;
  SummaryWriter writer_;
  Timeline timeline_;  // of the step that is summarised next
  bool has_run_metadata_ = false;
};

}  // namespace muster::train
