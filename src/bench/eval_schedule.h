#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "bench/derived.h"
#include "bench/params.h"

namespace muster::bench {

// What --eval_during_training_at_specified_steps and …_epochs list. Throws InvalidArgument unless all are whole numbers
// of at least 1, or finite numbers greater than 0.
std::vector<int64_t> SpecifiedSteps(const BenchParams& params);
std::vector<double> SpecifiedEpochs(const BenchParams& params);

// When training pauses for an evaluation (--eval_during_training_*): after which timed steps. Epochs become steps,
// rounded up.
class EvalSchedule {
 public:
  EvalSchedule(const BenchParams& params, const Derived& derived);

  // Whether one follows "steps" timed steps of this run, which has "all_steps"; the one at the end is not meant.
  bool IsDue(int64_t steps, int64_t all_steps) const;

 private:
  int64_t every_ = 0;        // steps; 0: not so
  double every_epochs_ = 0;  // in steps, with a fraction
  std::set<int64_t> at_;
};

}  // namespace muster::bench
