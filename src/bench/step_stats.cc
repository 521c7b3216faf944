#include "bench/step_stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace muster::bench {
namespace {

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The last value weighs 1, each one before it (1 - weight) times its successor.
double WeightedMean(const std::vector<double>& values, double weight) {
  double sum = 0, total = 0, factor = 1;
  for (size_t i = values.size(); i-- > 0;) {
    sum += factor * values[i];
    total += factor;
    factor *= 1 - weight;
  }
  return sum / total;
}

double PopulationDeviation(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

double Median(std::vector<double> values) {
  MUSTER_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

PerfTiming ComputePerfTiming(double images_per_step, const std::vector<double>& step_seconds,
                             std::optional<double> ewma_weight) {
  MUSTER_CHECK(!step_seconds.empty());
  std::vector<double> speeds;
  speeds.reserve(step_seconds.size());
  for (const double seconds : step_seconds) speeds.push_back(images_per_step / seconds);
  const double weight = ewma_weight.value_or(0);
  const double mean_seconds = weight != 0 ? WeightedMean(step_seconds, weight) : Mean(step_seconds);

  PerfTiming timing;
  timing.images_per_sec = images_per_step / mean_seconds;
  timing.uncertainty = PopulationDeviation(speeds) / std::sqrt(static_cast<double>(speeds.size()));
  const double median = Median(speeds);
  for (double& speed : speeds) speed = std::abs(speed - median);
  timing.jitter = 1.4826 * Median(std::move(speeds));
  return timing;
}

TotalTiming ComputeTotal(double images_per_step, int64_t steps, int64_t num_workers, double elapsed_seconds) {
  if (steps <= 0 || elapsed_seconds <= 0) return {};
  const double count = static_cast<double>(steps);
  return {static_cast<double>(num_workers) * count * images_per_step / elapsed_seconds, elapsed_seconds / count};
}

}  // namespace muster::bench
