#include "train/graph_train_step.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/heap.h"
#include "base/interrupt.h"
#include "base/process_memory.h"
#include "muster/error.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"
#include "muster/ops/state.h"
#include "train/checkpoint_hook.h"
#include "train/image_fit.h"
#include "train/model_flag.h"
#include "train/non_finite.h"
#include "train/recipe.h"

namespace muster::train {
namespace {

constexpr std::string_view kModelSets[] = {"mnist", "cifar10", "imagenet"};

// Copies of the model's state are kept every so many steps, for models whose state is at most this large.
constexpr int64_t kSnapshotEvery = 100;
constexpr int64_t kMaxSnapshotBytes = int64_t{256} << 20;

// What "build" returns. If it fails because the images are too small for the model, the error says that.
Tower BuildTower(const TrainOptions& options, const TrainingData& data, const std::function<Tower()>& build) {
  try {
    return build();
  } catch (const Error&) {
    CheckImageSize(FindTrainModel(options.model), data.image_shape, options.dataset);
    throw;
  }
}

Shape BatchShape(const Shape& image, int64_t batch_size) { return image.Inserted(0, batch_size); }

}  // namespace

const Model& FindTrainModel(const std::string& name) { return FindModelOfFlag(name, kModelSets); }

GraphTrainStep::GraphTrainStep(const TrainOptions& options, const TrainingData& data)
    : GraphTrainStep(options, data, PlanOnly{ModeOf(options)}) {
  CheckMemory(options, data);
  held_bytes_ = HeldOwnBytes();  // before variables have memory, which is planned
  session_->Initialize();
  ReleaseFreeHeap();  // of the plan that initialized
  keeps_snapshots_ = options.check_nan && StateBytes() <= kMaxSnapshotBytes;
  const int64_t slots = std::max(options.prefetch_depth, 1);
  prepared_bytes_ = slots * (graph_.desc(images_).byte_size() + graph_.desc(eval_images_).byte_size());
}

Recompute GraphTrainStep::ModeOf(const TrainOptions& options) {
  return options.recompute ? Recompute::kFit : Recompute::kNone;
}

MemoryNeeds GraphTrainStep::Needs() const { return NeedsOf(*session_, graph_, Plans(), host_limit_); }

std::vector<const PlanStats*> GraphTrainStep::Plans() const {
  std::vector<const PlanStats*> plans{&train_->stats(), &evaluate_->stats()};
  if (compute_gradients_ != nullptr) plans.push_back(&compute_gradients_->stats());
  return plans;
}

PlanMemory GraphTrainStep::PlanFor(const TrainOptions& options, const TrainingData& data, int64_t TrainOptions::*size,
                                   Recompute recompute) {
  return [&options, &data, size, recompute](int64_t batch_size) {
    TrainOptions changed = options;
    changed.*size = batch_size;
    return GraphTrainStep(changed, data, PlanOnly{recompute}).Needs();
  };
}

// The batch of the plan that takes more beside the variables is the one to make smaller.
void GraphTrainStep::CheckMemory(const TrainOptions& options, const TrainingData& data) const {
  const auto own_bytes = [](const Runner& plan) { return plan.stats().peak_bytes - plan.stats().variable_bytes; };
  const bool is_evaluation = own_bytes(*evaluate_) > own_bytes(*train_);
  const auto size = is_evaluation ? &TrainOptions::eval_batch_size : &TrainOptions::batch_size;
  FitQuestion question{.flag = is_evaluation ? "eval_batch_size" : "batch_size",
                       .batch_size = options.*size,
                       .plan = PlanFor(options, data, size, ModeOf(options))};
  if (!is_evaluation && !options.recompute) {
    question.plan_recomputed = PlanFor(options, data, size, Recompute::kMost);
    question.plan_to_fit = PlanFor(options, data, size, Recompute::kFit);
  }
  CheckFits(Needs(), question);
}

int64_t GraphTrainStep::LargestBatchSize(const TrainOptions& asked, const TrainingData& data) {
  TrainOptions options = asked;
  options.host_memory_limit_mb = SparingHostLimitMb(asked.host_memory_limit_mb);
  constexpr int64_t kFirst = 128;
  const int64_t most = std::max<int64_t>(1, data.train_images);
  const int64_t largest =
      LargestBatch(std::min(kFirst, most), most, PlanFor(options, data, &TrainOptions::batch_size, ModeOf(options)));
  if (largest > 0) return largest;
  TrainOptions one = options;
  one.batch_size = 1;
  GraphTrainStep(one, data, PlanOnly{ModeOf(options)}).CheckMemory(one, data);
  return 1;  // memory was set free meanwhile
}

GraphTrainStep::GraphTrainStep(const TrainOptions& options, const TrainingData& data, PlanOnly mode)
    : schedule_(MakeSchedule(options.schedule, data.train_images, options.batch_size, options.num_epochs)),
      host_limit_(HostMemoryLimit(options.host_memory_limit_mb)) {
  if (options.summary_verbosity >= 2) watch_every_ = options.save_summaries_steps;
  graph_.set_seed(static_cast<int64_t>(options.seed));
  ThrowIfInterrupted();
  BuildTraining(options, data);
  BuildEvaluation(options, data);
  SessionOptions session{.intra_op_threads = options.num_intra_threads, .backend = options.backend};
  Compile(session);
  if (mode.recompute == Recompute::kNone || (mode.recompute == Recompute::kFit && Fits(Needs()))) return;
  session.recompute = mode.recompute;
  const int64_t others = planned_peak_bytes() - train_->stats().peak_bytes;
  session.host_memory_limit = std::max<int64_t>(1, host_limit_ - others);
  Compile(session);
}

void GraphTrainStep::Compile(const SessionOptions& options) {
  train_.reset();  // before the session goes
  evaluate_.reset();
  compute_gradients_.reset();
  ThrowIfInterrupted();
  session_ = std::make_unique<Session>(&graph_, options);
  train_ = session_->Prepare({images_, labels_}, {loss_, correct_}, {train_op_});
  ThrowIfInterrupted();
  evaluate_ = session_->Prepare({eval_images_, eval_labels_}, {eval_losses_, eval_correct_});
  if (watch_every_ > 0) compute_gradients_ = session_->Prepare({images_, labels_}, gradients_);
}

GraphTrainStep::~GraphTrainStep() = default;

void GraphTrainStep::BuildTraining(const TrainOptions& options, const TrainingData& data) {
  const Scope scope(&graph_);
  images_ = ops::Placeholder(scope.Named("images"), DType::kFloat32, BatchShape(data.image_shape, options.batch_size));
  labels_ = ops::Placeholder(scope.Named("labels"), DType::kInt32, {options.batch_size});
  TowerOptions tower_options;
  tower_options.num_classes = data.num_classes;
  tower_options.weight_decay.rate = L2Factor(options.optimizer);
  tower_options.label_smoothing = options.label_smoothing;
  const Model& model = FindTrainModel(options.model);
  const Tower tower =
      BuildTower(options, data, [&] { return BuildTrainingTower(scope, model, images_, labels_, tower_options); });
  loss_ = tower.total_loss;
  correct_ = tower.top_1_correct;
  for (size_t i = 0; i < tower.variables.size(); ++i) {
    if (!tower.gradients[i].is_valid()) continue;
    watched_.push_back(tower.variables[i]);
    gradients_.push_back(tower.gradients[i]);
  }

  const Variable global_step = GlobalStep(scope);
  const auto optimizer =
      MakeOptimizer(options.optimizer, BuildRate(scope.WithName("learning_rate"), schedule_, global_step));
  train_op_ = BuildTrainStep(scope, tower, *optimizer, global_step);
}

// The tower's own sums take in the rows that only fill up the last batch, so loss and hits are computed per row.
void GraphTrainStep::BuildEvaluation(const TrainOptions& options, const TrainingData& data) {
  const Scope scope = Scope(&graph_).WithName("eval");
  eval_images_ =
      ops::Placeholder(scope.Named("images"), DType::kFloat32, BatchShape(data.image_shape, options.eval_batch_size));
  eval_labels_ = ops::Placeholder(scope.Named("labels"), DType::kInt32, {options.eval_batch_size});
  const TowerOptions tower_options{.num_classes = data.num_classes};
  const Tower tower =
      BuildEvaluationTower(scope, FindTrainModel(options.model), eval_images_, eval_labels_, tower_options);
  eval_losses_ = ops::SparseSoftmaxCrossEntropyWithLogits(scope, tower.logits, eval_labels_);
  eval_correct_ = ops::Cast(scope, ops::InTopK(scope, tower.logits, eval_labels_, 1), DType::kFloat32);
}

int64_t GraphTrainStep::planned_peak_bytes() const {
  int64_t bytes = train_->stats().variable_bytes;  // shared
  for (const PlanStats* plan : Plans()) bytes += plan->peak_bytes - plan->variable_bytes;
  return bytes;
}

int64_t GraphTrainStep::planned_process_bytes() const {
  return planned_peak_bytes() + held_bytes_ + prepared_bytes_ + (keeps_snapshots_ ? StateBytes() : 0);
}

int64_t GraphTrainStep::trainable_parameters() const {
  int64_t count = 0;
  for (const Variable& variable : TrainableVariables(graph_)) count += graph_.shape(variable).num_elements();
  return count;
}

int64_t GraphTrainStep::StateBytes() const {
  int64_t bytes = 0;
  for (const VariableInfo& variable : graph_.variables()) bytes += graph_.desc(variable.ref).byte_size();
  return bytes;
}

std::string GraphTrainStep::Restore(Saver& saver, const std::string& folder, const std::string& path) {
  train_->FinishSteps();  // what a saver saves at the end must be of whole steps
  const std::string restored = RestoreNewest(saver, *session_, folder, path, "restore_from");
  if (restored.empty()) {
    CheckNothingIsUnlisted(folder, "restore_from");
    return restored;
  }
  step_ = session_->step();
  if (keeps_snapshots_) TakeSnapshot();
  return restored;
}

void GraphTrainStep::TakeSnapshot() {
  snapshot_ = {.step = step_};
  for (const VariableInfo& variable : graph_.variables())
    snapshot_->variables.push_back(session_->ReadVariable(variable.ref));
}

std::vector<Tensor> GraphTrainStep::RunTraining(const data::Batch& batch) {
  session_->set_step(step_++);
  if (keeps_images_) last_images_ = batch.images;
  Timeline* timeline = std::exchange(traced_, nullptr);
  return timeline != nullptr ? train_->RunTraced({batch.images, batch.labels}, timeline)
                             : train_->Run({batch.images, batch.labels});
}

// Dropout draws what it will draw in the training step.
void GraphTrainStep::ComputeGradients(const data::Batch& batch) {
  session_->set_step(step_);
  gradient_values_ = compute_gradients_->Run({batch.images, batch.labels});
}

StepResult GraphTrainStep::Train(const data::Batch& batch) {
  if (keeps_snapshots_ && step_ % kSnapshotEvery == 0) TakeSnapshot();
  if (watch_every_ > 0 && (step_ + 1) % watch_every_ == 0) ComputeGradients(batch);
  const double rate = RateAt(schedule_, step_);
  const std::vector<Tensor> values = RunTraining(batch);
  return {.loss = values[0].scalar<float>(),
          .correct = static_cast<int64_t>(values[1].scalar<float>()),
          .learning_rate = rate};
}

EvalResult GraphTrainStep::Evaluate(const data::Batch& batch) {
  const std::vector<Tensor> values = evaluate_->Run({batch.images, batch.labels});
  const auto losses = values[0].data<float>(), correct = values[1].data<float>();
  EvalResult result;
  for (size_t row = 0; row < static_cast<size_t>(batch.valid); ++row) {
    result.loss_sum += losses[row];
    result.correct += correct[row] != 0;
  }
  return result;
}

// The update of the step has spoilt all weights by now. So the run goes back to the last copy of the state and comes
// forward again, which gives the same values, to where the step began.
std::string GraphTrainStep::ExplainNonFinite(int64_t step, const data::BatchSource& batches) {
  if (!snapshot_)
    return fmt::format("the layer is not known, as no copies are kept of a model state of more than {} MiB",
                       kMaxSnapshotBytes >> 20);
  return ReplayTo(step, batches);
}

std::string GraphTrainStep::ReplayTo(int64_t step, const data::BatchSource& batches) {
  for (size_t i = 0; i < snapshot_->variables.size(); ++i)
    session_->WriteVariable(graph_.variables()[i].ref, snapshot_->variables[i]);
  data::Batch batch = batches.Allocate();
  for (step_ = snapshot_->step; step_ < step;) {
    batches.Fill(step_, &batch);
    RunTraining(batch);
  }
  batches.Fill(step, &batch);
  session_->set_step(step);
  const std::optional<std::string> found =
      FirstNonFinite(*session_, graph_, loss_, {{images_, batch.images}, {labels_, batch.labels}});
  return found.value_or("every value is finite when the step is run again");
}

}  // namespace muster::train
