// The two-tower runs of golden/trajectories, each tower on a device of its own.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/strategy.h"
#include "tests/nn/trajectory_nets.h"
#include "tests/testing/golden.h"
#include "tests/train/towers_on_devices.h"

namespace muster::train {
namespace {

using muster::testing::GoldenJson;
using muster::testing::GoldenTensor;
using muster::testing::TrajectoryVariables;
using nlohmann::json;

template <typename T>
Tensor As(const Tensor& tensor) {
  const auto values = tensor.data<float>();
  return Tensor::Of<T>(tensor.shape(), std::span<const T>(std::vector<T>(values.begin(), values.end())));
}

// Images or labels of one tower at one step: the "half"-th part of number k of a stack.
template <typename T>
Tensor Part(const Tensor& stack, int64_t k, int64_t half, int64_t halves) {
  const Shape whole = stack.shape().Erased(0), shape = whole.Erased(0).Inserted(0, whole[0] / halves);
  const size_t begin = static_cast<size_t>(k * whole.num_elements() + half * shape.num_elements());
  return Tensor::Of<T>(shape,
                       std::span<const T>(stack.data<T>()).subspan(begin, static_cast<size_t>(shape.num_elements())));
}

template <typename T>
struct Feeds {
  std::vector<Output> images, labels;
};

template <typename T>
TowerBuilder NetTower(const json& run, const Tensor& images, Feeds<T>* feeds) {
  return [&run, &images, feeds](const Scope& scope, int, const TowerOptions& options) {
    const Shape batch = images.shape().Erased(0);
    const Shape shape = batch.Erased(0).Inserted(0, batch[0] / run["towers"].get<int64_t>());
    feeds->images.push_back(ops::Placeholder(scope, DTypeOf<T>(), shape));
    feeds->labels.push_back(ops::Placeholder(scope, DType::kInt32, {shape[0]}));
    const TrajectoryVariables variables(scope, DTypeOf<T>(), run["variables"], options.layers.get_variable);
    const std::string name = run["name"];
    Tower tower;
    std::vector<NodeId>* updates = options.layers.update_moving_averages ? &tower.update_ops : nullptr;
    tower.logits = muster::testing::TrajectoryLogits(name.substr(0, name.find('_')), scope, variables,
                                                     feeds->images.back(), true, updates);
    tower.variables = variables.trainable();
    tower.base_loss = SoftmaxCrossEntropyMean(scope, tower.logits, feeds->labels.back());
    tower.total_loss = AddWeightDecay(scope, tower.base_loss, variables.decayed(), options.weight_decay);
    tower.gradients =
        Gradients(scope, tower.total_loss, std::vector<Output>(tower.variables.begin(), tower.variables.end()));
    return tower;
  };
}

std::string FileOf(const std::string& folder, std::string variable) {
  std::replace(variable.begin(), variable.end(), '/', '.');
  return "trajectories/" + folder + "/" + variable + ".npy";
}

template <typename T>
void ExpectClose(const Tensor& ours, const Tensor& golden, double tolerance, const std::string& what) {
  for (size_t i = 0; i < golden.data<float>().size(); ++i)
    ASSERT_NEAR(static_cast<double>(ours.data<T>()[i]), static_cast<double>(golden.data<float>()[i]), tolerance)
        << what;
}

struct Tolerances {
  double loss, weights;
};

template <typename T>
void ExpectTrajectory(const json& run, StrategyOptions strategy, const std::string& backend,
                      const Tolerances& tolerances) {
  const std::string inputs = run["inputs_from"];
  const Tensor images = As<T>(GoldenTensor("trajectories/" + inputs + "/images.npy"));
  const Tensor labels = GoldenTensor("trajectories/" + inputs + "/labels.npy");
  const int towers = run["towers"];
  strategy.tower_devices = CpuDevices(towers);
  strategy.combine = run["combine"] == "sum" ? GradientCombine::kSum : GradientCombine::kMean;
  Graph graph;
  Feeds<T> feeds;
  TowerOptions options;
  options.weight_decay.rate = run["weight_decay"];
  const double rate = run["learning_rate"];
  const auto optimizer = [&] {
    return run["optimizer"] == "sgd" ? GradientDescentOptimizer(rate) : MomentumOptimizer(rate, 0.9);
  };
  const TowerSet set =
      BuildTrainingTowers(Scope(&graph), strategy, options, NetTower<T>(run, images, &feeds), optimizer);
  Session session(&graph, OnCpus(towers, backend));
  session.Initialize();
  for (const json& row : run["variables"])
    for (const char* copy : {"v/", "v0/", "v1/"})
      if (const NodeId node = graph.Find(copy + row["name"].get<std::string>()); node != kNoNode)
        session.WriteVariable({node, 0}, As<T>(GoldenTensor(FileOf(inputs + "/initial", row["name"]))));

  std::vector<Output> fed = feeds.images;
  fed.insert(fed.end(), feeds.labels.begin(), feeds.labels.end());
  const auto runner = session.Prepare(fed, {set.total_loss}, {set.train_step});
  for (int64_t step = 0; step < run["steps"].get<int64_t>(); ++step) {
    std::vector<Tensor> values;
    for (int64_t t = 0; t < towers; ++t) values.push_back(Part<T>(images, step % images.shape()[0], t, towers));
    for (int64_t t = 0; t < towers; ++t) values.push_back(Part<int32_t>(labels, step % images.shape()[0], t, towers));
    EXPECT_NEAR(static_cast<double>(runner->Run(values)[0].template scalar<T>()),
                run["loss_float64"][static_cast<size_t>(step)].get<double>(), tolerances.loss)
        << "step " << step;
  }
  for (const json& row : run["variables"]) {
    const std::string name = row["name"];
    NodeId node = graph.Find("v/" + name);
    if (node == kNoNode) node = graph.Find("v0/" + name);
    ExpectClose<T>(session.ReadVariable({node, 0}),
                   GoldenTensor(FileOf(run["name"].get<std::string>() + "/final", name)), tolerances.weights, name);
  }
}

// Shared variables in both places; copies with several exchanges.
std::vector<StrategyOptions> Strategies() {
  std::vector<StrategyOptions> all(5);
  all[1].parameter_device = "/cpu:0";
  for (size_t i = 2; i < all.size(); ++i) all[i].variable_update = VariableUpdate::kReplicated;
  all[3].exchange.all_reduce_spec = ParseAllReduceSpec("xring");
  all[4].exchange.all_reduce_spec = ParseAllReduceSpec("psgpu#2");
  all[4].exchange.gradient_repacking = 3;
  return all;
}

template <typename T>
void ExpectTrajectories(const std::string& backend, const Tolerances& tolerances) {
  const json index = GoldenJson("trajectories/index.json");
  int runs = 0;
  for (const json& run : index["runs"]) {
    if (run["towers"].get<int>() < 2) continue;
    ++runs;
    for (const StrategyOptions& strategy : Strategies()) {
      SCOPED_TRACE(run["name"].get<std::string>() + " on " + backend);
      ExpectTrajectory<T>(run, strategy, backend, tolerances);
    }
  }
  EXPECT_EQ(runs, 4);
}

TEST(GoldenTowers, TwentyStepsOnTwoDevicesInFloat64AreTensorFlows) {
  ExpectTrajectories<double>("reference", {1e-9, 5e-7});
}
TEST(GoldenTowers, TwentyStepsOnTwoDevicesInFloat32StayClose) { ExpectTrajectories<float>("cpu", {2e-4, 1e-3}); }

}  // namespace
}  // namespace muster::train
