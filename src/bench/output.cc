#include "bench/output.h"

#include <fmt/format.h>

#include <cmath>

namespace muster::bench {
namespace {

// With 3 decimals. Python prints every NaN without a sign.
std::string ThreeDecimals(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.3f}", value); }

}  // namespace

bool ShowsAccuracy(const BenchParams& params) { return params.print_training_accuracy || params.forward_only; }

std::string StepHeader(const BenchParams& params) {
  std::string line = "Step\tImg/sec\t" + params.loss_type_to_report;
  if (ShowsAccuracy(params)) line += "\ttop_1_accuracy\ttop_5_accuracy";
  return line;
}

std::string StepLine(int64_t step, const PerfTiming& timing, double loss, const std::optional<Accuracies>& accuracies) {
  std::string line = fmt::format("{}\timages/sec: {:.1f} +/- {:.1f} (jitter = {:.1f})\t{}", step, timing.images_per_sec,
                                 timing.uncertainty, timing.jitter, ThreeDecimals(loss));
  if (accuracies) line += fmt::format("\t{}\t{}", ThreeDecimals(accuracies->top_1), ThreeDecimals(accuracies->top_5));
  return line;
}

std::string EvaluationProgressLine(int64_t batch, double examples_per_sec) {
  return fmt::format("{}\t{:.1f} examples/sec", batch, examples_per_sec);
}

std::string AccuracyLine(const Accuracies& accuracies, int64_t examples) {
  return fmt::format("Accuracy @ 1 = {:.4f} Accuracy @ 5 = {:.4f} [{} examples]", accuracies.top_1, accuracies.top_5,
                     examples);
}

std::vector<std::string> TotalLines(double images_per_sec) {
  const std::string dashes(64, '-');
  return {dashes, fmt::format("total images/sec: {:.2f}", images_per_sec), dashes};
}

}  // namespace muster::bench
