#include "cli/model_graph.h"

#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "graph/flops.h"
#include "muster/error.h"
#include "muster/strategy.h"
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

Output Images(const Scope& scope, const Model& model, int64_t batch) {
  return ops::Placeholder(scope.Named("images"), DType::kFloat32,
                          {batch, model.image_size, model.image_size, FindDataset(model.dataset).channels});
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

StrategyOptions StrategyOf(const GraphRequest& request) {
  StrategyOptions strategy;
  strategy.tower_devices = TowerDevices(request);
  if (request.variable_update == "replicated") strategy.variable_update = VariableUpdate::kReplicated;
  if (request.variable_update == "independent") strategy.variable_update = VariableUpdate::kIndependent;
  if (request.parameters_on_cpu) strategy.parameter_device = "/cpu:0";
  strategy.exchange.sum_on_cpu = request.parameters_on_cpu;
  strategy.exchange.bucket_bytes = request.bucket_mb << 20;
  if (!request.all_reduce_spec.empty()) strategy.exchange.all_reduce_spec = ParseAllReduceSpec(request.all_reduce_spec);
  return strategy;
}

// Each tower has inputs of its own, as in a benchmark.
NodeId BuildTowers(const Scope& root, const Model& model, int64_t batch, const GraphRequest& request) {
  const auto build = [&](const Scope& scope, int number, const TowerOptions& options) {
    const Scope input = scope.WithoutName().WithName(fmt::format("tower_{}/input", number));
    const Output images = Images(input, model, batch),
                 labels = ops::Placeholder(input.Named("labels"), DType::kInt32, {batch});
    return BuildTrainingTower(scope, model, images, labels, options);
  };
  TowerOptions options;
  options.layers.data_format = request.data_format;
  const auto optimizer = [&] { return AnyOptimizer(request.optimizer); };
  const Output step = GlobalStep(root.WithDevice("/cpu:0"));
  return BuildTrainingTowers(root, StrategyOf(request), options, build, optimizer, step).train_step;
}

NodeId BuildOneCopy(const Scope& root, const Model& model, int64_t batch, const GraphRequest& request) {
  const Scope scope = request.device.empty() ? root : root.WithDevice(request.device);
  const Output images = Images(scope, model, batch);
  return request.training ? BuildTraining(scope, model, images, request)
                          : BuildInference(scope, model, images, request);
}

}  // namespace

std::vector<std::string> TowerDevices(const GraphRequest& request) {
  DeviceName name = DeviceName::Parse(request.device);
  if (!name.type)
    throw InvalidArgument(fmt::format("--num_gpus needs --device=cpu or gpu, not \"{}\"", request.device));
  std::vector<std::string> devices;
  for (int tower = 0; tower < request.num_towers; ++tower) {
    name.index = tower;
    devices.push_back(name.ToString());
  }
  return devices;
}

const Model& FindRequestedModel(const std::string& name, const std::string& dataset) {
  if (!dataset.empty()) return FindModel(name, dataset);
  return train::FindModelOfFlag(name, kDatasets);
}

std::unique_ptr<ModelGraph> BuildModelGraph(const GraphRequest& request) {
  auto result = std::make_unique<ModelGraph>();
  const Model& model = FindRequestedModel(request.model, request.dataset);
  result->model = &model;
  result->batch_size = request.batch_size.value_or(model.default_batch_size);
  const Scope root(&result->graph);
  const NodeId last = request.num_towers > 0 ? BuildTowers(root, model, result->batch_size, request)
                                             : BuildOneCopy(root, model, result->batch_size, request);
  result->step = Ancestors(result->graph, {last});
  return result;
}

}  // namespace muster::cli
