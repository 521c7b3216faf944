#pragma once

#include "bench/derived.h"
#include "bench/step_plans.h"
#include "muster/session.h"
#include "train/memory_fit.h"

namespace muster::bench {

// What a benchmark needs of memory, told from its plans: nothing is allocated, nothing runs. The parameters must
// outlive the object.
class BatchMemory {
 public:
  BatchMemory(const BenchParams& params, const OwnParams& own, const Derived& derived, SessionOptions devices);

  // How the benchmark's session is made: its devices, and recomputation to fit them if --recompute says so.
  SessionOptions Options() const { return OptionsWith(mode_); }
  // Of a session with the plans that it replays and, never at the same time, the plan of the first values.
  train::MemoryNeeds Needs(Session& session, const Graph& graph, const StepPlans& plans) const;

  // Throws Error{ResourceExhausted} if the images alone are too much to even compile for.
  void CheckImagesFit() const;
  // Throws Error{ResourceExhausted} if these needs, of the plans of the parameters' batches, do not fit.
  void CheckFits(const train::MemoryNeeds& needs, const StepPlans& plans) const;
  // The largest batch per device that fits. Throws Error{ResourceExhausted} if not one image does.
  int64_t LargestBatch() const;

 private:
  const char* ExchangeFlags() const;
  SessionOptions OptionsWith(Recompute recompute) const;
  // Which batch is another one in a plan: the training's (or the only one), or that of the evaluation beside it.
  enum class Batches { kTraining, kEvaluation };
  train::PlanMemory PlanWith(Recompute recompute, Batches which) const;
  train::FitQuestion QuestionOf(Batches which) const;

  const BenchParams& params_;
  const OwnParams& own_;
  const Derived& derived_;
  const SessionOptions devices_;
  const Recompute mode_;
  const int64_t host_limit_;  // bytes
};

}  // namespace muster::bench
