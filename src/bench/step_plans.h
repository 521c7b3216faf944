#pragma once

#include <memory>
#include <vector>

#include "bench/train_graph.h"
#include "muster/session.h"

namespace muster::bench {

// Whether summaries show gradients (--summary_verbosity of at least 2), which are then computed apart from the steps.
bool WatchesGradients(const BenchParams& params);

// The gradients that summaries show, and the variables that they belong to: the last tower's, as in the peer.
struct WatchedGradients {
  std::vector<Variable> variables;
  std::vector<Output> gradients;
};
WatchedGradients WatchedGradientsOf(const TrainGraph& graph);

// The plans that a run replays, which all keep their memory to its end.
struct StepPlans {
  std::unique_ptr<Runner> step;
  std::unique_ptr<Runner> gradients;   // null: nobody watches them
  std::unique_ptr<Runner> evaluation;  // beside the training; null: there is none

  std::vector<const PlanStats*> stats() const;
  // Of all together: variables are shared.
  int64_t peak_bytes() const;
};

// Compiles them; memory is taken when they first run.
StepPlans PrepareStepPlans(const BenchParams& params, const TrainGraph& graph, Session& session);

}  // namespace muster::bench
