#include "train/summary_hook.h"

#include "train/checkpoint_names.h"

namespace muster::train {
namespace {

constexpr int64_t kImages = 3;  // as many as the peer shows

}  // namespace

SummaryHook::SummaryHook(GraphTrainStep& step, const TrainOptions& options)
    : step_(step),
      verbosity_(options.summary_verbosity),
      every_steps_(options.save_summaries_steps),
      writer_(options.train_dir, step.session().PlacedGraph()) {
  if (verbosity_ >= 3) step_.WatchImages();
}

void SummaryHook::Begin(const Progress& progress) { TraceIfWanted(progress.step + 1); }

// Asks for the next step's timeline if that step is summarised.
void SummaryHook::TraceIfWanted(int64_t next_step) {
  if (verbosity_ < 1 || next_step % every_steps_ != 0 || (verbosity_ < 2 && has_run_metadata_)) return;
  timeline_ = {};
  step_.TraceNext(&timeline_);
}

void SummaryHook::AfterStep(const Progress& progress) {
  if (verbosity_ >= 1 && progress.step % every_steps_ == 0) Summarise(progress);
  TraceIfWanted(progress.step + 1);
}

void SummaryHook::Summarise(const Progress& progress) {
  if (!timeline_.spans.empty()) writer_.RunMetadata(progress.step, timeline_);
  has_run_metadata_ |= !timeline_.spans.empty();
  timeline_.spans.clear();
  if (verbosity_ >= 3) writer_.Images(progress.step, "images", step_.images(), kImages);
  writer_.Scalars(progress.step, {{"total_loss", progress.step_loss},
                                  {"top_1_accuracy", progress.step_accuracy},
                                  {"learning_rate", progress.learning_rate},
                                  {"images_per_sec", progress.images_per_sec}});
  if (verbosity_ >= 2) WriteHistograms(progress.step);
  writer_.Flush();
}

void SummaryHook::WriteHistograms(int64_t step) {
  writer_.LogGradients(step, step_.gradients());
  if (verbosity_ < 3) return;
  for (size_t i = 0; i < step_.watched_variables().size(); ++i) {
    const Variable& variable = step_.watched_variables()[i];
    const std::string name = CheckpointName(VariableName(step_.graph(), variable));
    writer_.Histogram(step, name + "/gradients", step_.gradients()[i]);
    writer_.Histogram(step, name, step_.session().ReadVariable(variable.ref));
  }
}

void SummaryHook::AfterEvaluation(const Progress& progress, const Evaluation& evaluation) {
  if (verbosity_ < 1) return;
  writer_.Scalars(progress.step, {{"eval/Accuracy@1", evaluation.test_accuracy}, {"eval/loss", evaluation.test_loss}});
  writer_.Flush();
}

void SummaryHook::End(const TrainResult&) { writer_.Close(); }

}  // namespace muster::train
