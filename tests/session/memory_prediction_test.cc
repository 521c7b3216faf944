// What a plan says it needs against what the allocators saw: never below, at most 2 % above.

#include <algorithm>

#include <gtest/gtest.h>

#include "memory/host_allocator.h"
#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"

namespace muster {
namespace {

struct Row {
  const char* model;
  const char* dataset;
  int64_t batch;
  Recompute recompute = Recompute::kNone;
  bool allow_growth = false;
};

const DeviceBytes& BytesOf(const PlanStats& stats, const std::string& type) {
  return *std::find_if(stats.devices.begin(), stats.devices.end(),
                       [&](const DeviceBytes& d) { return d.device.find("device:" + type) != std::string::npos; });
}

int64_t HostBytes() { return HostAllocator::Process().Stats().bytes_in_use; }

// One training step on one device, as `muster bench` would take it.
void ExpectPredictionHolds(const Row& row, const std::string& type) {
  SCOPED_TRACE(std::string(row.model) + " batch " + std::to_string(row.batch) + " on " + type);
  Graph graph;
  const Scope root = Scope(&graph).WithDevice("/device:" + type + ":0");
  const Model& model = FindModel(row.model, row.dataset);
  const Output images = ops::MakeVariable(
      root, "images",
      ops::TruncatedNormal(root, DType::kFloat32, Shape{row.batch, model.image_size, model.image_size, 3}), false);
  const Output labels = ops::RandomUniformInt(root, DType::kInt32, Shape{row.batch}, 0, 10);
  const Tower tower = BuildTrainingTower(root, model, images, labels, {});
  const NodeId step = BuildTrainStep(root, tower, *MomentumOptimizer(0.01, 0.9), GlobalStep(root));
  SessionOptions options{.recompute = row.recompute};
  if (type == "GPU") options.gpu = {.simulated_gpus = 1, .card_memory_mb = 16384, .allow_growth = row.allow_growth};

  const int64_t host_before = HostBytes();
  Session session(&graph, options);
  const auto runner = session.Prepare({}, {tower.total_loss}, {step});
  if (row.recompute != Recompute::kNone) {
    EXPECT_GT(runner->stats().num_recomputed, 0);
  }
  std::vector<NodeId> initializers;
  for (const VariableInfo& variable : graph.variables()) initializers.push_back(variable.initializer);
  int64_t predicted = BytesOf(runner->stats(), type).peak_bytes;
  if (type == "GPU")
    predicted = std::max(predicted, BytesOf(session.Prepare({}, {}, initializers)->stats(), type).peak_bytes);
  session.Initialize();
  runner->Run();

  int64_t seen = HostBytes() - host_before;
  for (const DeviceInfo& device : session.Devices())
    if (device.name.find("device:GPU") != std::string::npos) seen = device.peak_bytes_in_use;
  EXPECT_GE(predicted, seen);
  EXPECT_LE(static_cast<double>(predicted), 1.02 * static_cast<double>(seen));
}

constexpr Row kSmall[] = {{"lenet", "mnist", 1},
                          {"lenet", "mnist", 64},
                          {"resnet20", "cifar10", 1},
                          {"resnet20", "cifar10", 16},
                          {"resnet20", "cifar10", 16, Recompute::kMost},
                          {"resnet20_v2", "cifar10", 8},
                          {"alexnet", "cifar10", 8},
                          {"trivial", "imagenet", 8},
                          {"googlenet", "imagenet", 1},
                          {"googlenet", "imagenet", 1, Recompute::kMost}};

}  // namespace

TEST(MemoryPrediction, HoldsForSmallModelsOnTheHost) {
  for (const Row& row : kSmall) ExpectPredictionHolds(row, "CPU");
}

TEST(MemoryPrediction, HoldsForSmallModelsOnASimulatedGpuThatGrows) {
  for (Row row : kSmall) {
    row.allow_growth = true;
    ExpectPredictionHolds(row, "GPU");
  }
}

TEST(MemoryPrediction, HoldsForSmallModelsOnASimulatedGpu) {
  for (const Row& row : kSmall) ExpectPredictionHolds(row, "GPU");
}

// One case for each model, so that they can be shared out.
class SlowMemoryPrediction : public testing::TestWithParam<size_t> {};

TEST_P(SlowMemoryPrediction, HoldsForEveryBatch) {
  const Model& model = Models()[GetParam()];
  for (int64_t batch : {1, 3, 8})
    for (const char* type : {"CPU", "GPU"})
      ExpectPredictionHolds({model.name.c_str(), model.dataset.c_str(), batch}, type);
}

INSTANTIATE_TEST_SUITE_P(SlowModels, SlowMemoryPrediction, testing::Range<size_t>(0, Models().size()),
                         [](const auto& model) {
                           std::string name = Models()[model.param].name + "_" + Models()[model.param].dataset;
                           std::replace_if(
                               name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace muster
