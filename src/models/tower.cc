// From a model's layers to logits, loss and gradients.

#include "muster/gradients.h"
#include "muster/models.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster {
namespace {

Output CastTo(const Scope& scope, Output x, DType dtype) {
  return scope.dtype(x) == dtype ? x : ops::Cast(scope, x, dtype);
}

DType LossDType(DType activations) { return activations == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

std::vector<Output> TowerGradients(const Scope& scope, Output loss, const std::vector<Variable>& variables,
                                   const TowerOptions& options) {
  std::vector<Output> refs(variables.begin(), variables.end());
  if (!options.loss_scale.is_valid()) return Gradients(scope, loss, refs);
  const Output scale = options.loss_scale;
  const Output inverse = ops::Reciprocal(scope, scale);
  const Output scaled = ops::Mul(scope.Named("scaled_loss"), loss, CastTo(scope, scale, scope.dtype(loss)));
  std::vector<Output> gradients = Gradients(scope, scaled, refs);
  for (Output& gradient : gradients)
    if (gradient.is_valid()) gradient = ops::Mul(scope, gradient, CastTo(scope, inverse, scope.dtype(gradient)));
  return gradients;
}

// Everything up to the losses.
Tower BuildForward(const Scope& scope, const Model& model, Output images, Output labels, const TowerOptions& options) {
  ModelBuilder builder(scope, options.layers);
  const int num_classes = options.num_classes > 0 ? options.num_classes : FindDataset(model.dataset).num_classes;
  Tower tower;
  tower.logits = BuildLogits(builder, model, CastTo(scope, images, options.layers.dtype), num_classes);
  tower.variables = builder.trainable_variables();
  tower.update_ops = builder.update_ops();
  tower.base_loss = SoftmaxCrossEntropyMean(scope, tower.logits, labels, options.label_smoothing);
  tower.total_loss = AddWeightDecay(scope, tower.base_loss, tower.variables, options.weight_decay);
  const Output targets = CastTo(scope, labels, DType::kInt32);
  tower.top_1_correct = TopKCorrect(scope, tower.logits, targets, 1);
  tower.top_5_correct = TopKCorrect(scope, tower.logits, targets, 5);
  return tower;
}

}  // namespace

Output BuildLogits(ModelBuilder& builder, const Model& model, Output images, int num_classes) {
  const auto images_in_format = [&] {
    if (builder.options().data_format == DataFormat::kNHWC) return images;
    return ops::Transpose(builder.scope(), images, {0, 3, 1, 2});
  };
  const auto as_loss_dtype = [&](Output logits) {
    return CastTo(builder.scope(), logits, LossDType(builder.options().dtype));
  };
  if (model.network) return as_loss_dtype(model.network(builder, images_in_format(), num_classes));
  return builder.Within("cg", [&] {
    const Output top = model.layers(builder, images_in_format());
    return as_loss_dtype(builder.Affine(top, num_classes, {.activation = LayerActivation::kLinear}));
  });
}

Tower BuildTrainingTower(const Scope& scope, const Model& model, Output images, Output labels,
                         const TowerOptions& options) {
  TowerOptions training = options;
  training.layers.phase_train = true;
  Tower tower = BuildForward(scope, model, images, labels, training);
  tower.gradients = TowerGradients(scope, tower.total_loss, tower.variables, options);
  return tower;
}

Tower BuildEvaluationTower(const Scope& scope, const Model& model, Output images, Output labels,
                           const TowerOptions& options) {
  TowerOptions evaluation = options;
  evaluation.layers.phase_train = false;
  return BuildForward(scope, model, images, labels, evaluation);
}

NodeId BuildTrainStep(const Scope& scope, const Tower& tower, Optimizer& optimizer, Output global_step) {
  std::vector<GradientAndVariable> pairs;
  for (size_t i = 0; i < tower.variables.size(); ++i) pairs.push_back({tower.gradients[i], tower.variables[i]});
  std::vector<NodeId> parts = tower.update_ops;
  parts.push_back(optimizer.ApplyGradients(scope, pairs, global_step));
  return ops::Group(scope, parts);
}

}  // namespace muster
