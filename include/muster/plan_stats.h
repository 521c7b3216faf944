#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster {

// What one device holds for a plan. Compare peak_bytes with the device's limit.
struct DeviceBytes {
  std::string device;          // full name
  int64_t variable_bytes = 0;  // of all variables there, also those the plan does not use
  int64_t gradient_bytes = 0;
  int64_t arena_bytes = 0;
  int64_t channel_bytes = 0;  // values that arrive from other devices
  int64_t constant_bytes = 0;
  int64_t feed_bytes = 0;
  int64_t peak_bytes = 0;  // the sum, each block rounded up as the device's allocator does
};

// What a compiled plan needs and has; all counts are of one replay.
struct PlanStats {
  int64_t variable_bytes = 0;  // variables and optimizer slots
  int64_t gradient_bytes = 0;
  int64_t arena_bytes = 0;    // activations and workspaces
  int64_t channel_bytes = 0;  // values that arrive from other devices
  int64_t constant_bytes = 0;
  int64_t feed_bytes = 0;
  int64_t arena_lower_bound = 0;     // largest sum of live bytes
  int64_t peak_bytes = 0;            // everything above that is resident at once, all devices together
  std::vector<DeviceBytes> devices;  // the same for each device of the session, in its order
  int num_steps = 0;
  int num_reorders = 0;        // between plain and opaque forms, each step
  int num_recomputed = 0;      // steps of the forward pass that run again in the backward pass
  double recompute_flops = 0;  // floating-point operations that this adds
  std::map<std::string, int> steps_by_op;
};

// Where the time of one replay went, in seconds. With several devices: feeds, and then the device that computes
// longest.
struct StepTimes {
  double input = 0;     // copying feeds
  double compute = 0;   // forward and backward
  double exchange = 0;  // exposed: waiting for values of other devices, or copying to them, instead of computing
  double update = 0;    // variables
};

}  // namespace muster
