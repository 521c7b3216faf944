// With synchronised statistics towers of a model with batch norm are one tower on the joined batch.

#include <gtest/gtest.h>

#include <cmath>

#include "muster/error.h"
#include "muster/ops.h"
#include "muster/strategy.h"
#include "tests/train/towers_on_devices.h"

namespace muster::train {
namespace {

constexpr int kImages = 12, kSteps = 6;

// Two convolutions with batch norm, one of them in a residual sum.
const Model& SmallResnet() {
  static const Model model = {
      .name = "small_resnet", .dataset = "cifar10", .image_size = 8, .layers = [](ModelBuilder& builder, Output x) {
        builder.UseBatchNorm({.decay = 0.9, .epsilon = 1e-3, .scale = true});
        x = builder.Conv(x, 6, 3, 3);
        const Output y = builder.Conv(x, 6, 3, 3, {.activation = LayerActivation::kLinear});
        return builder.SpatialMean(builder.Relu(builder.Add(x, y)));
      }};
  return model;
}

class Resnet {
 public:
  Resnet(StrategyOptions strategy, std::vector<std::string> devices, const SessionOptions& session,
         DataFormat format = DataFormat::kNHWC)
      : towers_(static_cast<int>(devices.size())) {
    strategy.tower_devices = std::move(devices);
    strategy.batch_norm_statistics = BatchNormStatistics::kSynchronised;
    TowerOptions options;
    options.layers.data_format = format;
    options.weight_decay.rate = 1e-3;
    options.num_classes = 10;
    const auto build = [this](const Scope& scope, int, const TowerOptions& tower) {
      const Output images = ops::Placeholder(scope, DType::kFloat32, {kImages / towers_, 8, 8, 3});
      const Output labels = ops::Placeholder(scope, DType::kInt32, {kImages / towers_});
      feeds_.insert(feeds_.end(), {images, labels});
      return BuildTrainingTower(scope, SmallResnet(), images, labels, tower);
    };
    set_ = BuildTrainingTowers(Scope(&graph_), strategy, options, build, [] { return MomentumOptimizer(0.05, 0.9); });
    session_ = std::make_unique<Session>(&graph_, session);
    session_->Initialize();
    runner_ = session_->Prepare(feeds_, {set_.total_loss}, {set_.train_step});
  }

  // The other's variables, by what stands behind "v/" or "v3/".
  void CopyFrom(Resnet& other) {
    for (const VariableInfo& info : graph_.variables())
      if (const NodeId node = other.Find(info.name.substr(info.name.find('/') + 1)); node != kNoNode)
        session_->WriteVariable(info.ref, other.session_->ReadVariable({node, 0}));
  }

  std::vector<float> Train() {
    std::vector<float> losses;
    for (int step = 0; step < kSteps; ++step) {
      std::vector<Tensor> values;
      for (int t = 0; t < towers_; ++t) {
        const int64_t count = kImages / towers_;
        Tensor images(DType::kFloat32, {count, 8, 8, 3}), labels(DType::kInt32, {count});
        for (int64_t i = 0; i < count; ++i) {
          const int64_t image = step % 2 * kImages + t * count + i;
          labels.data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(image % 10);
          for (int64_t e = 0; e < 192; ++e)  // towers' parts have means of their own
            images.data<float>()[static_cast<size_t>(i * 192 + e)] =
                std::sin(static_cast<float>(image * 131 + e * (image % 10 + 1))) + static_cast<float>(image % 3);
        }
        values.insert(values.end(), {images, labels});
      }
      losses.push_back(runner_->Run(values)[0].scalar<float>());
    }
    return losses;
  }

  // A variable's values, of the shared set or of copy number "copy".
  std::vector<float> Value(const std::string& rest, int copy = 0) {
    NodeId node = graph_.Find("v/" + rest);
    if (node == kNoNode) node = graph_.Find("v" + std::to_string(copy) + "/" + rest);
    return Values(session_->ReadVariable({node, 0}));
  }

 private:
  NodeId Find(const std::string& rest) const {
    const NodeId shared = graph_.Find("v/" + rest);
    return shared != kNoNode ? shared : graph_.Find("v0/" + rest);
  }

  int towers_;
  Graph graph_;
  std::vector<Output> feeds_;
  TowerSet set_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
};

std::vector<StrategyOptions> Modes() {
  return {{}, {.parameter_device = "/cpu:0"}, {.variable_update = VariableUpdate::kReplicated}};
}

const char* const kVariables[] = {
    "cg/conv0/conv2d/kernel",          "cg/conv0/batchnorm0/gamma",           "cg/conv1/batchnorm1/beta",
    "cg/conv0/batchnorm0/moving_mean", "cg/conv1/batchnorm1/moving_variance", "cg/affine0/weights"};

void ExpectTheSame(Resnet& many, Resnet& one, const std::vector<float>& losses, const std::vector<float>& expected,
                   int towers) {
  for (size_t step = 0; step < losses.size(); ++step)
    EXPECT_NEAR(losses[step], expected[step], 1e-5 * expected[step]) << "step " << step;
  for (const char* variable : kVariables)
    for (int copy : {0, towers - 1}) {
      const std::vector<float> ours = many.Value(variable, copy), theirs = one.Value(variable);
      for (size_t i = 0; i < theirs.size(); ++i)
        EXPECT_NEAR(ours[i], theirs[i], 1e-5 * std::max(1.0f, std::abs(theirs[i]))) << variable;
    }
}

TEST(SynchronisedNorm, NTowersEqualOneBigBatch) {
  for (const DataFormat format : {DataFormat::kNHWC, DataFormat::kNCHW}) {
    Resnet start({}, CpuDevices(1), OnCpus(1), format), one({}, CpuDevices(1), OnCpus(1), format);
    one.CopyFrom(start);
    const std::vector<float> expected = one.Train();
    EXPECT_LT(expected.back(), 0.95f * expected.front()) << "nothing was learnt";
    for (const int towers : {2, 3, 4})
      for (const StrategyOptions& mode : Modes()) {
        SCOPED_TRACE(towers);
        Resnet many(mode, CpuDevices(towers), OnCpus(towers), format);
        many.CopyFrom(start);
        ExpectTheSame(many, one, many.Train(), expected, towers);
      }
  }
}

TEST(SynchronisedNorm, OnSimulatedGpusHasTheBitsOfCpus) {
  for (const StrategyOptions& mode : Modes())
    for (const uint64_t seed : {0, 1, 2}) {
      Resnet cpus(mode, CpuDevices(2), OnCpus(2)), gpus(mode, GpuDevices(2), OnSimulatedGpus(2, seed));
      gpus.CopyFrom(cpus);
      EXPECT_EQ(gpus.Train(), cpus.Train());
      for (const char* variable : kVariables) EXPECT_EQ(gpus.Value(variable), cpus.Value(variable)) << variable;
    }
}

TEST(SynchronisedNorm, IsNotForIndependentTowers) {
  Graph graph;
  const StrategyOptions strategy{.variable_update = VariableUpdate::kIndependent,
                                 .tower_devices = CpuDevices(2),
                                 .batch_norm_statistics = BatchNormStatistics::kSynchronised};
  EXPECT_THROW(BuildTrainingTowers(Scope(&graph), strategy, {}, {}, {}), Error);
}

}  // namespace
}  // namespace muster::train
