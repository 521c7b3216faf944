#include "bench/step_plans.h"

namespace muster::bench {

bool WatchesGradients(const BenchParams& params) {
  return params.train_dir && !params.forward_only && !params.eval && params.summary_verbosity >= 2 &&
         params.save_summaries_steps >= 1;
}

WatchedGradients WatchedGradientsOf(const TrainGraph& graph) {
  WatchedGradients watched;
  const Tower& tower = graph.towers.towers.back();
  for (size_t i = 0; i < tower.variables.size(); ++i) {
    if (!tower.gradients[i].is_valid()) continue;
    watched.variables.push_back(tower.variables[i]);
    watched.gradients.push_back(tower.gradients[i]);
  }
  return watched;
}

std::vector<const PlanStats*> StepPlans::stats() const {
  std::vector<const PlanStats*> all{&step->stats()};
  for (const Runner* other : {gradients.get(), evaluation.get()})
    if (other != nullptr) all.push_back(&other->stats());
  return all;
}

int64_t StepPlans::peak_bytes() const {
  int64_t bytes = step->stats().peak_bytes;
  for (const Runner* other : {gradients.get(), evaluation.get()})
    if (other != nullptr) bytes += other->stats().peak_bytes - other->stats().variable_bytes;
  return bytes;
}

StepPlans PrepareStepPlans(const BenchParams& params, const TrainGraph& graph, Session& session) {
  StepPlans plans;
  plans.step = session.Prepare(graph.feeds(), graph.fetches, graph.targets);
  if (WatchesGradients(params)) plans.gradients = session.Prepare(graph.inputs, WatchedGradientsOf(graph).gradients);
  if (!graph.eval_fetches.empty()) plans.evaluation = session.Prepare(graph.eval_inputs, graph.eval_fetches);
  return plans;
}

}  // namespace muster::bench
