#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/step_runner.h"
#include "bench/train_graph.h"
#include "muster/saver.h"
#include "muster/session.h"
#include "train/summary_writer.h"

namespace muster::bench {

// The curves of an evaluation, under tf_cnn_benchmarks' names.
std::vector<std::pair<std::string, double>> EvaluationCurves(const Accuracies& accuracies);

// Whether evaluations write their curves to --eval_dir: those of --eval do; while training pauses, as in the peer, only
// if the flag is given, and else the training's event file gets them.
bool WritesEvalDir(const BenchParams& params);

// What an evaluation reads and writes: the checkpoints of --train_dir, which may also name one of them, and event files
// in --eval_dir. For one thread; everything handed in must outlive it.
class EvalDir {
 public:
  EvalDir(const BenchParams& params, const TrainGraph& graph, Session& session);

  // Gives the variables the values of the newest checkpoint, or of the one that was named. Nothing if the folder has
  // none.
  std::optional<LoadedCheckpoint> Load();
  // Makes the folder and an event file in it the first time.
  void Write(int64_t global_step, const Accuracies& accuracies);

 private:
  const BenchParams& params_;
  Session& session_;
  Saver saver_;
  std::optional<train::SummaryWriter> summaries_;
};

}  // namespace muster::bench
