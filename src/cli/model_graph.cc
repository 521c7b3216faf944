#include "cli/model_graph.h"

#include <memory>
#include <string_view>

#include "graph/flops.h"
#include "train/model_flag.h"
#include "train/recipe.h"

namespace muster::cli {
namespace {

constexpr std::string_view kDatasets[] = {"imagenet", "cifar10", "mnist", "coco"};

// Only the shape of an update matters here, not its numbers.
std::unique_ptr<Optimizer> AnyOptimizer(const std::string& name) {
  return train::MakeOptimizer({.name = name,
                               .momentum = 0.9,
                               .rmsprop_decay = 0.9,
                               .rmsprop_momentum = 0.9,
                               .rmsprop_epsilon = 1.0,
                               .adam_beta1 = 0.9,
                               .adam_beta2 = 0.999,
                               .adam_epsilon = 1e-8},
                              0.01);
}

NodeId BuildTraining(const Scope& scope, const Model& model, Output images, const GraphRequest& request) {
  const Output labels = ops::Placeholder(scope.Named("labels"), DType::kInt32, {scope.shape(images)[0]});
  TowerOptions options;
  options.layers.data_format = request.data_format;
  const Tower tower = BuildTrainingTower(scope, model, images, labels, options);
  return BuildTrainStep(scope, tower, *AnyOptimizer(request.optimizer), GlobalStep(scope));
}

NodeId BuildInference(const Scope& scope, const Model& model, Output images, const GraphRequest& request) {
  ModelBuilder builder(scope, {.data_format = request.data_format, .phase_train = false});
  return BuildLogits(builder, model, images, FindDataset(model.dataset).num_classes).node;
}

}  // namespace

const Model& FindRequestedModel(const std::string& name, const std::string& dataset) {
  if (!dataset.empty()) return FindModel(name, dataset);
  return train::FindModelOfFlag(name, kDatasets);
}

std::unique_ptr<ModelGraph> BuildModelGraph(const GraphRequest& request) {
  auto result = std::make_unique<ModelGraph>();
  const Model& model = FindRequestedModel(request.model, request.dataset);
  result->model = &model;
  result->batch_size = request.batch_size.value_or(model.default_batch_size);
  Scope scope(&result->graph);
  if (!request.device.empty()) scope = scope.WithDevice(request.device);
  const int channels = FindDataset(model.dataset).channels;
  const Output images = ops::Placeholder(scope.Named("images"), DType::kFloat32,
                                         {result->batch_size, model.image_size, model.image_size, channels});
  const NodeId last =
      request.training ? BuildTraining(scope, model, images, request) : BuildInference(scope, model, images, request);
  result->step = Ancestors(result->graph, {last});
  return result;
}

}  // namespace muster::cli
