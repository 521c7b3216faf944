#include "bench/train_graph.h"

#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"

namespace muster::bench {
namespace {

// Made once and kept, as the peer does: images are truncated normal with mean 127 and deviation 60, not scaled.
Output SyntheticImages(const Scope& scope, const Shape& shape) {
  Output noise = ops::TruncatedNormal(scope, DType::kFloat32, shape);
  Output scaled = ops::Mul(scope, noise, ops::Scalar<float>(scope, 60));
  return ops::MakeVariable(scope, "gpu_cached_inputs", ops::Add(scope, scaled, ops::Scalar<float>(scope, 127)), false);
}

// Drawn anew in every step, one class less than the model has.
Output SyntheticLabels(const Scope& scope, int64_t batch, int num_classes) {
  return ops::RandomUniformInt(scope.Named("synthetic_labels"), DType::kInt32, Shape{batch}, 0, num_classes - 1);
}

std::unique_ptr<Optimizer> MakeOptimizer(const BenchParams& params, Output rate) {
  if (params.optimizer == "momentum") return MomentumOptimizer(rate, params.momentum, true);
  if (params.optimizer == "rmsprop")
    return RMSPropOptimizer(rate, {params.rmsprop_decay, params.rmsprop_momentum, params.rmsprop_epsilon});
  if (params.optimizer == "adam") return AdamOptimizer(rate, {params.adam_beta1, params.adam_beta2, params.adam_epsilon});
  return GradientDescentOptimizer(rate);
}

// Element by element, as --gradient_clip says.
void ClipGradients(const Scope& scope, double limit, Tower* tower) {
  for (Output& gradient : tower->gradients)
    if (gradient.is_valid()) gradient = ops::ClipByValue(scope, gradient, -limit, limit);
}

}  // namespace

int64_t BytesPerImage(const Derived& derived) {
  const int64_t size = FindModel(derived.model.name, derived.dataset.name).image_size;
  return size * size * 3 * static_cast<int64_t>(sizeof(float));
}

std::unique_ptr<TrainGraph> BuildTrainGraph(const BenchParams& params, const Derived& derived, int64_t batch) {
  auto built = std::make_unique<TrainGraph>();
  built->graph = std::make_unique<Graph>();
  built->graph->set_seed(params.tf_random_seed);
  Scope root(built->graph.get());
  const Model& model = FindModel(derived.model.name, derived.dataset.name);
  const int num_classes = FindDataset(derived.dataset.name).num_classes;

  built->learning_rate = ops::Placeholder(root.Named("learning_rate"), DType::kFloat32, Shape{});
  Scope tower_scope = root.WithName("tower_0");
  Output images = SyntheticImages(tower_scope, Shape{batch, model.image_size, model.image_size, 3});
  Output labels = SyntheticLabels(tower_scope, batch, num_classes);

  TowerOptions options;
  options.layers.data_format = params.data_format == "NCHW" ? DataFormat::kNCHW : DataFormat::kNHWC;
  options.layers.phase_train = !params.forward_only;
  options.num_classes = num_classes;
  options.weight_decay = {params.weight_decay, 1, params.single_l2_loss_op};
  Scope variables = tower_scope.WithVariableScope("v");
  if (params.forward_only) {
    const Tower tower = BuildEvaluationTower(variables, model, images, labels, options);
    // The peer's loss is a hard-coded 0 here.
    built->fetches = {ops::Scalar<float>(root, 0), tower.top_1_correct, tower.top_5_correct};
    return built;
  }
  Tower tower = BuildTrainingTower(variables, model, images, labels, options);
  built->fetches = {params.loss_type_to_report == "base_loss" ? tower.base_loss : tower.total_loss};
  if (params.print_training_accuracy) {
    built->fetches.push_back(tower.top_1_correct);
    built->fetches.push_back(tower.top_5_correct);
  }
  if (params.gradient_clip) ClipGradients(root, *params.gradient_clip, &tower);
  built->targets = {BuildTrainStep(root, tower, *MakeOptimizer(params, built->learning_rate), GlobalStep(root))};
  return built;
}

}  // namespace muster::bench
