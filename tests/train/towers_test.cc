// What towers do together: one step of N towers is a step of one tower on the joined batch, whatever the strategy.

#include <gtest/gtest.h>

#include <cmath>

#include "muster/error.h"
#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/strategy.h"
#include "tests/train/towers_on_devices.h"

namespace muster::train {
namespace {

constexpr int kSteps = 20, kImages = 24;  // images of a step, over all towers

// Two convolutions and two dense layers, without batch norm and small.
const Model& SmallLenet() {
  static const Model model = {
      .name = "small_lenet", .dataset = "cifar10", .image_size = 10, .layers = [](ModelBuilder& builder, Output x) {
        x = builder.MaxPool(builder.Conv(x, 6, 3, 3), 2, 2);
        x = builder.MaxPool(builder.Conv(x, 8, 3, 3), 2, 2);
        return builder.Affine(builder.Flatten(x), 20);
      }};
  return model;
}

// Its towers, on images that are fed.
class Lenet {
 public:
  Lenet(StrategyOptions strategy, int towers, const std::string& optimizer = "momentum")
      : Lenet(std::move(strategy), CpuDevices(towers), OnCpus(towers), optimizer) {}

  Lenet(StrategyOptions strategy, std::vector<std::string> devices, const SessionOptions& session,
        const std::string& optimizer = "momentum")
      : towers_(static_cast<int>(devices.size())) {
    strategy.tower_devices = std::move(devices);
    TowerOptions options;
    options.weight_decay.rate = 1e-3;
    options.num_classes = 10;
    const auto make = [&]() -> std::unique_ptr<Optimizer> {
      return optimizer == "adam" ? AdamOptimizer(1e-3) : MomentumOptimizer(0.02, 0.9);
    };
    set_ = BuildTrainingTowers(Scope(&graph_), strategy, options, Builder(), make,
                               GlobalStep(Scope(&graph_).WithDevice("/cpu:0")));
    session_ = std::make_unique<Session>(&graph_, session);
    session_->Initialize();
    runner_ = session_->Prepare(feeds_, {set_.total_loss}, {set_.train_step});
  }

  // Gives every copy the values of the other's variables of the same name.
  void CopyFrom(Lenet& other) {
    for (const VariableInfo& info : graph_.variables())
      if (const NodeId node = other.VariableNode(Rest(info.name)); node != kNoNode && info.name[0] == 'v')
        session_->WriteVariable(info.ref, other.session_->ReadVariable({node, 0}));
  }

  float Step(int number) {
    std::vector<Tensor> values;
    for (int t = 0; t < towers_; ++t) AddFeeds(number, t, &values);
    return runner_->Run(values)[0].scalar<float>();
  }

  std::vector<float> Train(int steps = kSteps) {
    std::vector<float> losses;
    for (int step = 0; step < steps; ++step) losses.push_back(Step(step));
    return losses;
  }

  // All trainable weights, of the shared set or of copy number "copy".
  std::vector<float> Weights(int copy = 0) {
    std::vector<float> all;
    for (const Variable& variable : TrainableVariables(graph_)) {
      const std::string& name = VariableName(graph_, variable);
      if (!name.starts_with("v/") && !name.starts_with("v" + std::to_string(copy) + "/")) continue;
      for (float value : Values(session_->ReadVariable(variable.ref))) all.push_back(value);
    }
    return all;
  }

  const Graph& graph() const { return graph_; }
  Session& session() { return *session_; }

 private:
  TowerBuilder Builder() {
    return [this](const Scope& scope, int, const TowerOptions& options) {
      const Model& model = SmallLenet();
      const int64_t batch = kImages / towers_;
      const Output images = ops::Placeholder(scope, DType::kFloat32, {batch, model.image_size, model.image_size, 3});
      const Output labels = ops::Placeholder(scope, DType::kInt32, {batch});
      feeds_.insert(feeds_.end(), {images, labels});
      return BuildTrainingTower(scope, model, images, labels, options);
    };
  }

  // Part t of batch number "number": images from -1 to 1, labels that depend on them.
  void AddFeeds(int number, int t, std::vector<Tensor>* values) const {
    const Shape& shape = graph_.shape(feeds_[0]);
    Tensor images(DType::kFloat32, shape), labels(DType::kInt32, {shape[0]});
    const int64_t per_image = shape.num_elements() / shape[0];
    for (int64_t i = 0; i < shape[0]; ++i) {
      const int64_t image = number % 4 * kImages + t * shape[0] + i;
      labels.data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(image % 10);
      for (int64_t e = 0; e < per_image; ++e)
        images.data<float>()[static_cast<size_t>(i * per_image + e)] =
            std::sin(static_cast<float>(image * 131 + e * (image % 10 + 1)));
    }
    values->insert(values->end(), {images, labels});
  }

  static std::string Rest(const std::string& name) { return name.substr(name.find('/') + 1); }
  NodeId VariableNode(const std::string& rest) const {
    const NodeId shared = graph_.Find("v/" + rest);
    return shared != kNoNode ? shared : graph_.Find("v0/" + rest);
  }

  int towers_;
  Graph graph_;
  TowerSet set_;
  std::vector<Output> feeds_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
};

StrategyOptions Shared(const std::string& device = "") { return {.parameter_device = device}; }

StrategyOptions Replicated(const std::string& spec = "") {
  StrategyOptions strategy{.variable_update = VariableUpdate::kReplicated};
  if (!spec.empty()) strategy.exchange.all_reduce_spec = ParseAllReduceSpec(spec);
  return strategy;
}

// The root of the mean square difference, relative to the other's root of mean square.
double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return a.size() == b.size() ? std::sqrt(difference / size) : INFINITY;
}

TEST(Towers, NTowersEqualOneBigBatch) {
  Lenet start(Shared(), 1), one(Shared(), 1);
  one.CopyFrom(start);
  const std::vector<float> expected = one.Train();
  EXPECT_LT(expected.back(), 0.9f * expected.front()) << "nothing was learnt";
  for (int towers : {1, 2, 3, 4, 8})
    for (const StrategyOptions& strategy :
         {Shared(), Shared("/cpu:0"), Replicated(), Replicated("xring"), Replicated("psgpu")}) {
      SCOPED_TRACE(towers);
      Lenet many(strategy, towers);
      many.CopyFrom(start);
      const std::vector<float> losses = many.Train();
      for (size_t step = 0; step < losses.size(); ++step)
        EXPECT_NEAR(losses[step], expected[step], 1e-5 * expected[step]) << "step " << step;
      EXPECT_LT(Difference(many.Weights(), one.Weights()), 1e-5);
    }
}

TEST(Towers, CopiesStayTheSameBits) {
  for (const char* spec : {"", "pscpu", "psgpu#2", "xring", "xring#2"}) {
    Lenet towers(Replicated(spec), 3);
    towers.Train(3);
    EXPECT_EQ(towers.Weights(0), towers.Weights(1)) << spec;
    EXPECT_EQ(towers.Weights(0), towers.Weights(2)) << spec;
  }
}

// One of each mode and algorithm.
std::vector<StrategyOptions> AllKinds() {
  StrategyOptions staged = Shared(), relaxed = Replicated(),
                  independent{.variable_update = VariableUpdate::kIndependent}, packed = Replicated(),
                  hierarchical = Replicated();
  staged.staged_variables = true;
  relaxed.exchange.relaxed = true;
  packed.exchange.gradient_repacking = 2;
  hierarchical.exchange.hierarchical_copy = true;
  return {Shared(),
          Shared("/cpu:0"),
          Replicated(),
          Replicated("pscpu"),
          Replicated("psgpu#2"),
          Replicated("xring#2"),
          staged,
          relaxed,
          independent,
          packed,
          hierarchical};
}

TEST(Towers, RepeatedRunsAreBitEqual) {
  for (const StrategyOptions& strategy : AllKinds()) {
    Lenet first(strategy, 3, "adam"), second(strategy, 3, "adam");
    EXPECT_EQ(first.Train(5), second.Train(5));
    EXPECT_EQ(first.Weights(), second.Weights());
  }
}

// Losses and weights on simulated GPUs are those on CPU devices, whatever the order in which streams run.
void ExpectTheBitsOfCpus(int towers, int first_seed, int last_seed) {
  int kind = 0;
  for (const StrategyOptions& strategy : AllKinds()) {
    SCOPED_TRACE(++kind);
    Lenet cpus(strategy, towers);
    const std::vector<float> losses = cpus.Train(3), weights = cpus.Weights();
    for (int seed = first_seed; seed <= last_seed; ++seed) {
      SCOPED_TRACE(seed);
      Lenet gpus(strategy, GpuDevices(towers), OnSimulatedGpus(towers, static_cast<uint64_t>(seed)));
      EXPECT_EQ(gpus.Train(3), losses);
      EXPECT_EQ(gpus.Weights(), weights);
    }
  }
}

TEST(Towers, OnSimulatedGpusHaveTheBitsOfCpus) { ExpectTheBitsOfCpus(2, 0, 2); }
TEST(SlowTowers, OnSimulatedGpusHaveTheBitsOfCpusForAHundredSeeds) { ExpectTheBitsOfCpus(3, 1, 100); }

TEST(Towers, AllCopiesStartWithTheFirstOnesValues) {
  for (VariableUpdate mode : {VariableUpdate::kReplicated, VariableUpdate::kIndependent}) {
    Lenet towers({.variable_update = mode}, 3);
    EXPECT_EQ(towers.Weights(0), towers.Weights(2));
    EXPECT_GT(Difference(towers.Weights(0), std::vector<float>(towers.Weights(0).size(), 1e-9f)), 1)
        << "they are not zero";
  }
}

TEST(Towers, TheGlobalStepCountsOncePerStep) {
  for (const StrategyOptions& strategy : {Shared(), Replicated()}) {
    Lenet towers(strategy, 2);
    towers.Train(3);
    EXPECT_EQ(towers.session().ReadVariable({towers.graph().Find("global_step"), 0}).scalar<int64_t>(), 3);
  }
}

// A small tower with batch norm, whose variables carry the names of the program.
struct NormedTowers {
  explicit NormedTowers(const StrategyOptions& strategy) {
    const auto build = [&](const Scope& scope, int, const TowerOptions& options) {
      const Output x = ops::Placeholder(scope, DType::kFloat32, {3, 2});
      feeds.push_back(x);
      ModelBuilder builder(scope, options.layers);
      const Output y =
          builder.BatchNorm(ops::Reshape(scope, x, {3, 1, 1, 2}), {.decay = 0.75, .epsilon = 1e-3, .scale = true});
      Tower tower;
      tower.variables = builder.trainable_variables();
      tower.update_ops = builder.update_ops();
      tower.base_loss = tower.total_loss = ops::Mean(scope, ops::Square(scope, y));
      tower.gradients =
          Gradients(scope, tower.total_loss, std::vector<Output>(tower.variables.begin(), tower.variables.end()));
      return tower;
    };
    set = BuildTrainingTowers(Scope(&graph), strategy, {}, build, [] { return GradientDescentOptimizer(0.1); });
  }

  // Tower t sees the numbers t, t + 1 … t + 5 in rows of two.
  std::vector<float> RunAndRead(const std::string& variable) {
    Session session(&graph, OnCpus(2));
    session.Initialize();
    std::vector<Tensor> values;
    for (size_t t = 0; t < feeds.size(); ++t) {
      const float at = static_cast<float>(t);
      values.push_back(Tensor::Of<float>({3, 2}, {at, at + 1, at + 2, at + 3, at + 4, at + 5}));
    }
    session.Prepare(feeds, {set.total_loss}, {set.train_step})->Run(values);
    return Values(session.ReadVariable({graph.Find(variable), 0}));
  }

  Graph graph;
  std::vector<Output> feeds;
  TowerSet set;
};

// Means of the columns are t + 2 and t + 3; averages move by a quarter from zero.
TEST(BatchNormStatistics, FollowTheFirstTowerOrTheMeanOfAll) {
  using Averages = std::vector<float>;
  StrategyOptions shared{.tower_devices = CpuDevices(2)}, copies = shared, alone = shared;
  copies.variable_update = VariableUpdate::kReplicated;
  alone.variable_update = VariableUpdate::kIndependent;
  EXPECT_EQ(NormedTowers(shared).RunAndRead("v/batchnorm0/moving_mean"), (Averages{0.5f, 0.75f}));
  EXPECT_EQ(NormedTowers(copies).RunAndRead("v0/batchnorm0/moving_mean"), (Averages{0.5f, 0.75f}));
  EXPECT_EQ(NormedTowers(copies).RunAndRead("v1/batchnorm0/moving_mean"), (Averages{0, 0}));
  for (StrategyOptions* strategy : {&shared, &copies, &alone})
    strategy->batch_norm_statistics = BatchNormStatistics::kMean;
  EXPECT_EQ(NormedTowers(shared).RunAndRead("v/batchnorm0/moving_mean"), (Averages{0.625f, 0.875f}));
  EXPECT_EQ(NormedTowers(copies).RunAndRead("v0/batchnorm0/moving_mean"), (Averages{0.625f, 0.875f}));
  EXPECT_EQ(NormedTowers(copies).RunAndRead("v1/batchnorm0/moving_mean"), (Averages{0.625f, 0.875f}));
  EXPECT_EQ(NormedTowers(alone).RunAndRead("v1/batchnorm0/moving_mean"), (Averages{0.75f, 1})) << "each its own";
}

TEST(SharedVariables, GoToTheDeviceWithTheFewestElements) {
  Graph graph;
  const std::vector<Shape> shapes = {{10}, {3}, {4}, {2}, {100}, {1}};
  const auto build = [&](const Scope& scope, int, const TowerOptions& options) {
    Tower tower;
    std::vector<Output> losses;
    for (size_t i = 0; i < shapes.size(); ++i) {
      tower.variables.push_back(options.layers.get_variable(
          scope, {"w" + std::to_string(i), DType::kFloat32, shapes[i], initializers::Ones()}));
      losses.push_back(ops::L2Loss(scope, tower.variables.back()));
    }
    tower.base_loss = tower.total_loss = ops::AddN(scope, losses);
    tower.gradients =
        Gradients(scope, tower.total_loss, std::vector<Output>(tower.variables.begin(), tower.variables.end()));
    return tower;
  };
  BuildTrainingTowers(Scope(&graph), {.tower_devices = CpuDevices(2)}, {}, build,
                      [] { return GradientDescentOptimizer(1); });
  std::string devices;
  for (size_t i = 0; i < shapes.size(); ++i)
    devices += std::to_string(*graph.node(graph.Find("v/w" + std::to_string(i))).device.index);
  EXPECT_EQ(devices, "011110") << "10 | 3 + 4 + 2; 100 goes to the 9, then 1 to the 10";
}

TEST(AverageGradients, IsTheMeanWhereTheVariableLives) {
  Graph graph;
  const Scope scope(&graph);
  const Variable w = GetVariable(scope.WithDevice("/cpu:1"), {"w", DType::kFloat32, {2}, initializers::Zeros()});
  const auto gradient = [&](const char* device, float a, float b) {
    return ops::Const(scope.WithDevice(device), Tensor::Of<float>({2}, {a, b}));
  };
  const auto averaged =
      AverageGradients(scope, {{{gradient("/cpu:0", 1, 2), w}}, {{gradient("/cpu:1", 3, 6), w}}, {{Output{}, w}}});
  ASSERT_EQ(averaged.size(), 1u);
  EXPECT_EQ(graph.node(averaged[0].gradient.node).colocate_with, (std::vector<std::string>{"w"}));
  Session session(&graph, OnCpus(2));
  const std::vector<float> mean = Values(session.Run({}, {averaged[0].gradient})[0]);
  EXPECT_FLOAT_EQ(mean[0], 4.0f / 3);
  EXPECT_FLOAT_EQ(mean[1], 8.0f / 3);
  EXPECT_THROW(AverageGradients(scope, {{{gradient("/cpu:0", 1, 2), w}}, {}}), Error);
}

TEST(Towers, MustBeBuiltAlike) {
  Graph graph;
  const auto build = [](const Scope& scope, int t, const TowerOptions& options) {
    Tower tower;
    for (int i = 0; i <= t; ++i)
      tower.variables.push_back(
          options.layers.get_variable(scope, {"w" + std::to_string(i), DType::kFloat32, {}, initializers::Ones()}));
    tower.total_loss = ops::L2Loss(scope, tower.variables.back());
    tower.gradients =
        Gradients(scope, tower.total_loss, std::vector<Output>(tower.variables.begin(), tower.variables.end()));
    return tower;
  };
  try {
    BuildTrainingTowers(Scope(&graph), {.tower_devices = CpuDevices(2)}, {}, build,
                        [] { return GradientDescentOptimizer(1); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "tower 1 has 2 variables, tower 0 has 1: all must be built alike");
  }
}

}  // namespace
}  // namespace muster::train
