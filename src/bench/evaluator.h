#pragma once

#include <functional>
#include <optional>

#include "bench/benchmark_log.h"
#include "bench/console.h"
#include "bench/derived.h"
#include "bench/result_json.h"
#include "bench/step_runner.h"

namespace muster::bench {

// One pass over the validation images: a line every --display_every batches, the accuracies at the end, their curves
// and metrics. For one thread; everything handed in must outlive it.
class Evaluator {
 public:
  Evaluator(const BenchParams& params, const Derived& derived, Console& console, const std::function<double()>& clock)
      : params_(params), derived_(derived), console_(console), clock_(clock) {}

  // The accuracies are the means of those of the batches. Nothing if Interrupted() turned true. "log" may be null.
  std::optional<EvaluationRecord> Evaluate(StepRunner& runner, int64_t global_step, BenchmarkLog* log) const;

 private:
  bool RunBatches(StepRunner& runner, EvaluationRecord* record) const;

  const BenchParams& params_;
  const Derived& derived_;
  Console& console_;
  const std::function<double()>& clock_;
};

}  // namespace muster::bench
