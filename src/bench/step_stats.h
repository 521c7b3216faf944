#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace muster::bench {

// The three figures of a step line, over all timed steps so far (tf_cnn_benchmarks, get_perf_timing). With step times
// t_i in seconds, n of them, B images per step and speeds s_i = B / t_i:
struct PerfTiming {
  double images_per_sec = 0;  // B / mean(t_i); with weight a: the weighted mean, weights (1 - a)^(n - 1 - i)
  double uncertainty = 0;     // population standard deviation of s_i, divided by sqrt(n)
  double jitter = 0;          // 1.4826 * median(|s_i - median(s)|), a robust estimate of the standard deviation
};

// Needs at least one step. A weight of 0 means the plain mean, as in the peer.
PerfTiming ComputePerfTiming(double images_per_step, const std::vector<double>& step_seconds,
                             std::optional<double> ewma_weight);

// The middle value; of an even number of values the mean of the two in the middle. Needs at least one value.
double Median(std::vector<double> values);

// What a whole run comes to: images per second of all workers, and seconds per step. 0 where nothing was timed.
struct TotalTiming {
  double images_per_sec = 0;
  double average_wall_time = 0;
};
TotalTiming ComputeTotal(double images_per_step, int64_t steps, int64_t num_workers, double elapsed_seconds);

}  // namespace muster::bench
