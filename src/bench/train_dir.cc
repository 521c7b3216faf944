#include "bench/train_dir.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/output_file.h"
#include "bench/eval_dir.h"
#include "bench/strategy.h"
#include "muster/error.h"
#include "muster/graph_export.h"
#include "muster/variables.h"
#include "train/checkpoint_names.h"

namespace muster::bench {
namespace {

constexpr int64_t kImages = 3;  // as many as tf.summary.image shows

SaverOptions SaverOptionsOf(const BenchParams& params) {
  return {.max_to_keep = static_cast<int>(std::clamp<int64_t>(params.max_ckpts_to_keep, 0, 1 << 30))};
}

template <typename Action>
auto NamingTrainDir(const Action& action) try {
  return action();
} catch (const Error& error) {
  if (error.code() == Code::kCancelled) throw;
  throw Error(error.code(), fmt::format("flag --train_dir: {}", error.what()));
}

}  // namespace

std::string RestoreFromTrainDir(Saver& saver, Session& session, const std::string& folder, const std::string& path,
                                const std::string& way_on) {
  return NamingTrainDir([&] { return train::RestoreNewest(saver, session, folder, path, way_on); });
}

TrainDir::TrainDir(const BenchParams& params, const Derived& derived, const TrainGraph& graph, Session& session,
                   Runner* compute_gradients)
    : params_(params),
      derived_(derived),
      graph_(graph),
      session_(session),
      saver_(graph.graph.get(), train::CheckpointVariables(*graph.graph, IsReplicated(params)), SaverOptionsOf(params)),
      checkpointer_(saver_, session, {*params.train_dir, 0, static_cast<double>(params.save_model_secs)}, clock_),
      compute_gradients_(compute_gradients) {}

void TrainDir::Begin() {
  if (params_.forward_only) return;
  CreateWritableFolder(*params_.train_dir);
  RemoveAbandonedFiles(*params_.train_dir, "graph.pbtxt");
  WriteFileAtomically(*params_.train_dir + "/graph.pbtxt", GraphToGraphDefText(session_.PlacedGraph()));
  if (params_.summary_verbosity < 1 || params_.save_summaries_steps < 1) return;
  summaries_.emplace(*params_.train_dir, session_.PlacedGraph());
  if (compute_gradients_ != nullptr) watched_ = WatchedGradientsOf(graph_).variables;
}

int64_t TrainDir::Restore() {
  restored_ = RestoreFromTrainDir(saver_, session_, *params_.train_dir, "", "");
  if (restored_.empty() && !params_.forward_only)
    NamingTrainDir([&] { train::CheckNothingIsUnlisted(*params_.train_dir, ""); });
  const int64_t steps = restored_.empty() ? 0 : session_.step();
  checkpointer_.Begin(steps);
  summarised_at_ = clock_.Seconds();
  summarised_step_ = steps;
  return steps;
}

std::string TrainDir::RestoreNote() const {
  if (params_.forward_only && restored_.empty()) return train::UnlistedNote(*params_.train_dir, "");
  if (saver_.missing().empty()) return "";
  return fmt::format("{} lacks {} (of --use_fp16): the loss scale begins at --fp16_loss_scale", restored_,
                     fmt::join(saver_.missing(), " and "));
}

bool TrainDir::IsSummarised(const StepInput& input) const {
  return summaries_ && input.timed_step > 0 && input.timed_step % params_.save_summaries_steps == 0;
}

void TrainDir::BeforeStep(const StepInput& input, const std::vector<Tensor>& fed) {
  if (!IsSummarised(input)) return;
  if (params_.summary_verbosity >= 3 && !fed.empty())
    summaries_->Images(input.global_step + 1, "distorted_image", fed[0], kImages);
  if (compute_gradients_ == nullptr) return;
  const int64_t step = session_.step();
  gradients_ = compute_gradients_->Run(fed);
  session_.set_step(step);
}

Timeline* TrainDir::TimelineFor(const StepInput& input) {
  timeline_ = {};
  const bool is_first = input.timed_step == params_.save_summaries_steps;
  return IsSummarised(input) && (is_first || params_.summary_verbosity >= 2) ? &timeline_ : nullptr;
}

void TrainDir::AfterStep(const StepInput& input, const StepResult& result) {
  if (params_.forward_only) return;
  const int64_t done = input.global_step + 1;
  const int64_t every = params_.save_model_steps.value_or(0);
  if (every > 0 && input.timed_step > 0 && input.timed_step % every == 0) checkpointer_.Save(done);
  else checkpointer_.AfterStep(done);
  if (IsSummarised(input)) WriteSummary(input, result);
}

// The peer's scalars carry the numbers that TensorFlow adds to names that are taken.
void TrainDir::WriteSummary(const StepInput& input, const StepResult& result) {
  const int64_t step = input.global_step + 1;
  const double now = clock_.Seconds();
  std::vector<std::pair<std::string, double>> values = {
      {"global_step/sec", static_cast<double>(step - summarised_step_) / std::max(now - summarised_at_, 1e-9)},
      {fmt::format("learning_rate_{}", derived_.num_devices), static_cast<double>(input.learning_rate)},
      {params_.loss_type_to_report, result.loss}};
  if (params_.print_training_accuracy) {
    values.emplace_back("top_1_accuracy", result.top_1_accuracy);
    values.emplace_back("top_5_accuracy", result.top_5_accuracy);
  }
  if (graph_.towers.loss_scale.is_valid()) {
    values.emplace_back("loss_scale_1", session_.ReadVariable(graph_.towers.loss_scale).scalar<float>());
    values.emplace_back("loss_scale_normal_steps_1",
                        session_.ReadVariable(graph_.towers.loss_scale_normal_steps).scalar<int32_t>());
  }
  summaries_->Scalars(step, values);
  if (!timeline_.spans.empty()) summaries_->RunMetadata(step, timeline_);
  if (compute_gradients_ != nullptr) WriteHistograms(step);
  summaries_->Flush();
  summarised_at_ = now;
  summarised_step_ = step;
}

void TrainDir::WriteHistograms(int64_t step) {
  summaries_->LogGradients(step, gradients_);
  if (params_.summary_verbosity < 3) return;
  for (size_t i = 0; i < watched_.size(); ++i)
    summaries_->Histogram(step, VariableName(*graph_.graph, watched_[i]) + "/gradients", gradients_[i]);
  for (const Variable& variable : TrainableVariables(*graph_.graph))
    summaries_->Histogram(step, VariableName(*graph_.graph, variable) + "_1", session_.ReadVariable(variable.ref));
}

void TrainDir::WriteEvaluation(int64_t global_step, const Accuracies& accuracies) {
  if (!summaries_) return;
  summaries_->Scalars(global_step, EvaluationCurves(accuracies));
  summaries_->Flush();
}

std::string TrainDir::End(int64_t steps) {
  if (!params_.forward_only) checkpointer_.End(steps);
  saver_.Wait();
  if (summaries_) summaries_->Close();
  return checkpointer_.newest().empty() ? restored_ : checkpointer_.newest();
}

}  // namespace muster::bench
