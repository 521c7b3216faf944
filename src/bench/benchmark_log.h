#pragma once

#include <cstdint>
#include <string>

#include "bench/derived.h"
#include "bench/machine.h"

namespace muster::bench {

// The structured log of --benchmark_log_dir, in the format that TensorFlow's model garden writes for
// tf_cnn_benchmarks: benchmark_run.log, one JSON object that describes the run, and metric.log, one JSON object per
// line. Each run replaces both: the metrics are those of the run that benchmark_run.log describes. One thread.
class BenchmarkLog {
 public:
  // Creates the folder if needed. Throws Error when files cannot be created in it.
  explicit BenchmarkLog(std::string folder);

  // Describes the run and empties metric.log. First.
  void LogRun(const BenchParams& params, const Derived& derived, const MachineFacts& machine);
  void LogMetric(const std::string& name, double value, int64_t global_step);

 private:
  std::string folder_;
};

}  // namespace muster::bench
