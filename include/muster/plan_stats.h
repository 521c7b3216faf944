#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace muster {

// What a compiled plan needs and has; all counts are of one replay.
struct PlanStats {
  int64_t variable_bytes = 0;       // variables and optimizer slots
  int64_t gradient_bytes = 0;
  int64_t arena_bytes = 0;          // activations and workspaces
  int64_t constant_bytes = 0;
  int64_t feed_bytes = 0;
  int64_t arena_lower_bound = 0;    // largest sum of live bytes
  int64_t peak_bytes = 0;           // everything above that is resident at once
  int num_steps = 0;
  int num_reorders = 0;             // between plain and opaque forms, each step
  std::map<std::string, int> steps_by_op;
};

// Where the time of one replay went, in seconds.
struct StepTimes {
  double input = 0;    // copying feeds
  double compute = 0;  // forward and backward
  double update = 0;   // variables
};

}  // namespace muster
