// Whole training steps on the CPU backend (variables in oneDNN's forms, fused and coalesced) against the reference
// backend.

#include <cmath>

#include <gtest/gtest.h>

#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"

namespace muster {
namespace {

struct Trained {
  std::vector<float> losses;
  std::vector<std::vector<float>> weights;
};

Trained Train(const SessionOptions& options, const char* model, const char* dataset, bool momentum, DataFormat format) {
  Graph graph;
  Scope root(&graph);
  const Model& row = FindModel(model, dataset);
  Output images = ops::RandomUniform(root, DType::kFloat32, Shape{4, row.image_size, row.image_size, 3});
  Output labels = ops::RandomUniformInt(root, DType::kInt32, Shape{4}, 0, 10);
  TowerOptions tower_options;
  tower_options.layers.data_format = format;
  tower_options.layers.dropout = false;
  tower_options.weight_decay.rate = 1e-3;
  const Tower tower = BuildTrainingTower(root, row, images, labels, tower_options);
  auto optimizer = momentum ? MomentumOptimizer(0.01, 0.9) : AdamOptimizer(1e-3);
  const NodeId step = BuildTrainStep(root, tower, *optimizer);
  Session session(&graph, options);
  auto runner = session.Prepare({}, {tower.total_loss}, {step});
  session.Initialize();
  Trained result;
  for (int n = 0; n < 3; ++n) result.losses.push_back(runner->Run()[0].scalar<float>());
  for (const Variable& v : tower.variables) {
    const Tensor value = session.ReadVariable(v);
    result.weights.emplace_back(value.data<float>().begin(), value.data<float>().end());
  }
  return result;
}

void ExpectClose(const Trained& a, const Trained& b) {
  for (size_t s = 0; s < a.losses.size(); ++s)
    EXPECT_NEAR(a.losses[s], b.losses[s], 1e-4 * std::abs(a.losses[s])) << "step " << s;
  for (size_t v = 0; v < a.weights.size(); ++v) {
    double difference = 0, norm = 0;
    for (size_t i = 0; i < a.weights[v].size(); ++i) {
      difference += std::pow(a.weights[v][i] - b.weights[v][i], 2);
      norm += std::pow(a.weights[v][i], 2);
    }
    EXPECT_LE(std::sqrt(difference), 2e-3 * std::sqrt(norm) + 1e-4) << "variable " << v;
  }
}

}  // namespace

TEST(BackendsAgree, OnDenseLayersWithOpaqueWeights) {
  const Trained reference = Train({.backend = "reference"}, "lenet", "imagenet", true, DataFormat::kNHWC);
  ExpectClose(reference, Train({}, "lenet", "imagenet", true, DataFormat::kNHWC));
}

TEST(BackendsAgree, WithAndWithoutPassesAndArena) {
  const Trained planned = Train({}, "resnet20", "cifar10", true, DataFormat::kNHWC);
  ExpectClose(planned, Train({.optimize = false, .use_arena = false}, "resnet20", "cifar10", true, DataFormat::kNHWC));
}

// The bytes of all weights after two steps with weights and activations in half precision.
std::string HalfWeights(const SessionOptions& options, DType dtype) {
  Graph graph;
  const Scope root(&graph);
  const Model& row = FindModel("googlenet", "imagenet");
  const Output images = ops::RandomUniform(root, DType::kFloat32, Shape{1, row.image_size, row.image_size, 3});
  const Output labels = ops::RandomUniformInt(root, DType::kInt32, Shape{1}, 0, 10);
  TowerOptions tower_options;
  tower_options.layers.dtype = tower_options.layers.variable_dtype = dtype;
  tower_options.layers.dropout = false;
  const Tower tower = BuildTrainingTower(root, row, images, labels, tower_options);
  const NodeId step = BuildTrainStep(root, tower, *MomentumOptimizer(0.01, 0.9));
  Session session(&graph, options);
  auto runner = session.Prepare({}, {tower.total_loss}, {step});
  session.Initialize();
  for (int n = 0; n < 2; ++n) runner->Run();
  std::string bytes;
  for (const Variable& v : tower.variables) {
    const Tensor value = session.ReadVariable(v);
    bytes.append(static_cast<const char*>(value.raw()), static_cast<size_t>(value.byte_size()));
  }
  return bytes;
}

// Kernels that compute half precision in float32 need workspace for all that one of them updates.
TEST(BackendsAgree, OnUpdatesOfHalfPrecisionSideBySide) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    SCOPED_TRACE(DTypeName(dtype));
    EXPECT_TRUE(HalfWeights({}, dtype) == HalfWeights({.use_arena = false}, dtype));
  }
}

TEST(BackendsAgree, OnAdamSweepsOverPaddedMemory) {
  const Trained reference = Train({.backend = "reference"}, "alexnet", "cifar10", false, DataFormat::kNHWC);
  ExpectClose(reference, Train({}, "alexnet", "cifar10", false, DataFormat::kNHWC));
}

}  // namespace muster
