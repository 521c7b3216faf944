#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::train {

// The learning rate over time as the flags give it, in epochs. MakeSchedule (schedule.h) turns it into steps.
struct ScheduleOptions {
  std::string kind;  // one of ScheduleNames()
  double init_rate = 0;
  double warmup_epochs = 0;        // linear ramp from 0 in front of every kind
  double epochs_per_decay = 0;     // exponential, staircase
  double decay_factor = 0;         // exponential, staircase
  double minimum_rate = 0;         // floor (exponential, staircase) or end (polynomial, cosine)
  double decay_epochs = 0;         // polynomial, cosine: when the end is reached; 0: with the last epoch
  double power = 1;                // polynomial
  std::vector<double> rates;       // piecewise: one more than boundaries
  std::vector<double> boundaries;  // piecewise: epochs, rising
};

// "constant", "exponential", "staircase", "piecewise", "polynomial", "cosine".
const std::vector<std::string>& ScheduleNames();

// Reads "LR0;E1;LR1;...;En;LRn" (tf_cnn_benchmarks' --piecewise_learning_rate_schedule): rate LRi from epoch Ei on.
// Sets kind, rates, boundaries and init_rate; throws InvalidArgument naming the part that is wrong.
void ParsePiecewise(std::string_view text, ScheduleOptions* schedule);

}  // namespace muster::train
