#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/params.h"
#include "bench/step_runner.h"
#include "bench/step_stats.h"

namespace muster::bench {

// The lines of a run after the information block, byte for byte as tf_cnn_benchmarks writes them (columns are separated
// by tabs; log parsers split on white space).

// "Step  Img/sec  total_loss", with accuracy columns where they are shown.
std::string StepHeader(const BenchParams& params);

// Whether step lines carry the two accuracies.
bool ShowsAccuracy(const BenchParams& params);

// "10  images/sec: 1466.2 +/- 45.1 (jitter = 202.9)  9.704"; "step" counts timed steps from 1.
std::string StepLine(int64_t step, const PerfTiming& timing, double loss, const std::optional<Accuracies>& accuracies);

// "20  18216.5 examples/sec" of an evaluation; "batch" counts from 1.
std::string EvaluationProgressLine(int64_t batch, double examples_per_sec);
// "Accuracy @ 1 = 0.1500 Accuracy @ 5 = 0.5875 [80 examples]".
std::string AccuracyLine(const Accuracies& accuracies, int64_t examples);

// Three lines: dashes, "total images/sec: 1474.76", dashes.
std::vector<std::string> TotalLines(double images_per_sec);

}  // namespace muster::bench
