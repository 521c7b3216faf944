// What a compiled training step must look like, counted on the plan of real models.

#include <gtest/gtest.h>

#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"

namespace muster {
namespace {

struct TrainingPlan {
  Graph graph;
  std::unique_ptr<Session> session;
  std::unique_ptr<Runner> runner;

  TrainingPlan(const char* name, const char* dataset, int64_t batch, DataFormat format = DataFormat::kNHWC,
               std::unique_ptr<Optimizer> optimizer = MomentumOptimizer(0.1, 0.9)) {
    Scope root(&graph);
    const Model& model = FindModel(name, dataset);
    Output images = ops::Placeholder(root, DType::kFloat32, Shape{batch, model.image_size, model.image_size, 3});
    Output labels = ops::Placeholder(root, DType::kInt32, Shape{batch});
    TowerOptions options;
    options.layers.data_format = format;
    options.weight_decay.rate = 1e-4;
    const Tower tower = BuildTrainingTower(root, model, images, labels, options);
    const NodeId step = BuildTrainStep(root, tower, *optimizer, GlobalStep(root));
    session = std::make_unique<Session>(&graph, SessionOptions{});
    runner = session->Prepare({images, labels}, {tower.total_loss}, {step});
  }

  int Count(const std::string& op) const {
    const auto& steps = runner->stats().steps_by_op;
    auto it = steps.find(op);
    return it == steps.end() ? 0 : it->second;
  }
};

}  // namespace

TEST(PlanQuality, EveryBatchNormWithReluOfResNet50IsOneStepInEachPass) {
  TrainingPlan plan("resnet50", "imagenet", 2);
  EXPECT_EQ(plan.Count("_FusedBatchNormEx"), 49);  // 33 with ReLU, 16 with residual sum and ReLU
  EXPECT_EQ(plan.Count("FusedBatchNorm"), 4);      // the projections, which no ReLU follows
  EXPECT_EQ(plan.Count("_FusedBatchNormGradEx"), 49);
  EXPECT_EQ(plan.Count("FusedBatchNormGrad"), 4);
  EXPECT_EQ(plan.Count("Relu") + plan.Count("ReluGrad"), 0);
  EXPECT_EQ(plan.Count("Add"), 1);  // of loss and weight decay, scalars
}

TEST(PlanQuality, ActivationsOfResNet50AreNeverReordered) {
  TrainingPlan plan("resnet50", "imagenet", 2);
  EXPECT_EQ(plan.Count("Transpose"), 0);
  // What remains are filters, for the backward pass, and their gradients, of 0.1 GiB in all.
  const std::string text = plan.runner->PlanText();
  for (size_t at = text.find("_Reorder "); at != std::string::npos; at = text.find("_Reorder ", at + 1)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    EXPECT_TRUE(line.find("/kernel/") != std::string::npos || line.find("BackpropFilter/") != std::string::npos)
        << line;
  }
}

TEST(PlanQuality, ResNet50AtItsUsualBatchReordersNothingAtAll) {
  TrainingPlan plan("resnet50", "imagenet", 32);
  EXPECT_EQ(plan.Count("_Reorder"), 0);
}

TEST(PlanQuality, NCHWIsTransposedAtTheEdgesOnly) {
  TrainingPlan plan("resnet50", "imagenet", 2, DataFormat::kNCHW);
  EXPECT_LE(plan.Count("Transpose"), 1);
  EXPECT_EQ(plan.Count("_FusedBatchNormEx"), 49);
}

TEST(PlanQuality, UpdatesSweepOverContiguousMemory) {
  TrainingPlan plan("resnet50", "imagenet", 2);
  // Variables with and without weight decay alternate, so that runs are those of a kernel alone and of its batch norm.
  EXPECT_LE(plan.Count("ApplyMomentum"), 161);
  EXPECT_EQ(plan.Count("AddN"), 2);  // of the gradients of the first block's input and of the weight-decay terms
}

// Products of one image read the weights as they are: an update that moved them to another form would have them moved
// back and forth in each step.
TEST(PlanQuality, DenseWeightsStayPlainWhereABatchHasOneImage) {
  const auto reorders_weights = [](const TrainingPlan& plan) {
    std::string found;
    const std::string text = plan.runner->PlanText();
    for (size_t at = text.find("_Reorder "); at != std::string::npos; at = text.find("_Reorder ", at + 1)) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      if (line.find("affine") != std::string::npos) found += line + "\n";
    }
    return found;
  };
  const TrainingPlan one("lenet", "imagenet", 1, DataFormat::kNHWC, GradientDescentOptimizer(0.1)),
      many("lenet", "imagenet", 4, DataFormat::kNHWC, GradientDescentOptimizer(0.1));
  EXPECT_EQ(reorders_weights(one), "");
  EXPECT_EQ(one.Count("_MatMulApplyGradientDescent"), 0);
  EXPECT_EQ(reorders_weights(many), "");
  EXPECT_GT(many.Count("_MatMulApplyGradientDescent"), 0);
}

TEST(PlanQuality, ArenaIsAtMostFivePercentAboveTheLowerBound) {
  for (const char* name : {"resnet50", "inception3", "googlenet", "vgg16", "alexnet"}) {
    TrainingPlan plan(name, "imagenet", 2);
    const PlanStats& stats = plan.runner->stats();
    EXPECT_LE(static_cast<double>(stats.arena_bytes), 1.05 * static_cast<double>(stats.arena_lower_bound)) << name;
  }
}

}  // namespace muster
