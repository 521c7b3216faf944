#include "bench/evaluator.h"

#include <algorithm>

#include "base/interrupt.h"
#include "bench/output.h"
#include "bench/progress.h"
#include "muster/error.h"

namespace muster::bench {

// Speeds are of the batches since the last line, as in the peer.
bool Evaluator::RunBatches(StepRunner& runner, EvaluationRecord* record) const {
  const double start = clock_();
  double shown_at = start;
  for (int64_t batch = 0; batch < derived_.num_eval_batches; ++batch) {
    if (Interrupted()) return false;
    console_.Progress(ProgressLine("evaluation", batch, derived_.num_eval_batches, clock_() - start));
    const Accuracies accuracies = runner.Evaluate(batch);
    record->accuracies.top_1 += accuracies.top_1;
    record->accuracies.top_5 += accuracies.top_5;
    ++record->num_batches;
    if ((batch + 1) % params_.display_every != 0) continue;
    const double now = clock_();
    const double examples = static_cast<double>(derived_.eval_batch_size * params_.display_every);
    console_.Print(EvaluationProgressLine(batch + 1, examples / std::max(now - shown_at, 1e-9)));
    shown_at = clock_();
  }
  record->seconds = clock_() - start;
  return true;
}

std::optional<EvaluationRecord> Evaluator::Evaluate(StepRunner& runner, int64_t global_step, BenchmarkLog* log) const {
  EvaluationRecord record;
  record.global_step = global_step;
  try {
    if (!RunBatches(runner, &record)) return std::nullopt;
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled && Interrupted()) return std::nullopt;
    throw;
  }
  const double batches = static_cast<double>(std::max<int64_t>(record.num_batches, 1));
  record.accuracies.top_1 /= batches;
  record.accuracies.top_5 /= batches;
  record.examples = record.num_batches * derived_.eval_batch_size;
  console_.Print(AccuracyLine(record.accuracies, record.examples));
  runner.AfterEvaluation(global_step, record.accuracies);
  if (log == nullptr) return record;
  log->LogMetric("eval_top_1_accuracy", record.accuracies.top_1, global_step);
  log->LogMetric("eval_top_5_accuracy", record.accuracies.top_5, global_step);
  log->LogMetric("eval_average_examples_per_sec", static_cast<double>(record.examples) / std::max(record.seconds, 1e-9),
                 global_step);
  return record;
}

}  // namespace muster::bench
