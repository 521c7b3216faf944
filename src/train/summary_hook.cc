#include "train/summary_hook.h"

#include "train/checkpoint_names.h"

namespace muster::train {

SummaryHook::SummaryHook(GraphTrainStep& step, const TrainOptions& options)
    : step_(step),
      verbosity_(options.summary_verbosity),
      every_steps_(options.save_summaries_steps),
      writer_(options.train_dir, step.session().PlacedGraph()) {}

void SummaryHook::AfterStep(const Progress& progress) {
  if (verbosity_ < 1 || progress.step % every_steps_ != 0) return;
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
