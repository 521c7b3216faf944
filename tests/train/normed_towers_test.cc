// Towers with batch norm, few and many: the same bits on CPU devices, on simulated GPUs in any order, and in every
// repetition.

#include <gtest/gtest.h>

#include "muster/ops.h"
#include "muster/strategy.h"
#include "tests/train/towers_on_devices.h"

namespace muster::train {
namespace {

const Model& SmallNormed() {
  static const Model model = {
      .name = "small_normed", .dataset = "cifar10", .image_size = 6, .layers = [](ModelBuilder& builder, Output x) {
        x = builder.Conv(x, 4, 3, 3, {.batch_norm = true});
        x = builder.MaxPool(builder.Conv(x, 6, 3, 3, {.batch_norm = true}), 2, 2);
        return builder.Affine(builder.Flatten(x), 10);
      }};
  return model;
}

// Losses of three steps on images that the towers draw, then every variable of the session: weights, slots and running
// averages.
std::vector<float> Train(StrategyOptions strategy, std::vector<std::string> devices,
                         const SessionOptions& session_options) {
  strategy.tower_devices = std::move(devices);
  Graph graph;
  graph.set_seed(5);
  TowerOptions options;
  options.weight_decay.rate = 1e-3;
  options.num_classes = 10;
  const auto build = [&](const Scope& scope, int, const TowerOptions& tower_options) {
    const Output images = ops::RandomUniform(scope, DType::kFloat32, Shape{3, 6, 6, 3});
    const Output labels = ops::RandomUniformInt(scope, DType::kInt32, Shape{3}, 0, 10);
    return BuildTrainingTower(scope, SmallNormed(), images, labels, tower_options);
  };
  const TowerSet set =
      BuildTrainingTowers(Scope(&graph), strategy, options, build, [] { return MomentumOptimizer(0.02, 0.9); });
  Session session(&graph, session_options);
  session.Initialize();
  const auto runner = session.Prepare({}, {set.total_loss}, {set.train_step});
  if (set.prefill != kNoNode) session.Run({}, {}, {set.prefill});
  std::vector<float> values;
  for (int step = 0; step < 3; ++step) values.push_back(runner->Run()[0].scalar<float>());
  for (const VariableInfo& variable : graph.variables())
    for (float value : Values(session.ReadVariable(variable.ref))) values.push_back(value);
  return values;
}

std::vector<StrategyOptions> Kinds() {
  std::vector<StrategyOptions> kinds;
  for (BatchNormStatistics statistics :
       {BatchNormStatistics::kFirstTower, BatchNormStatistics::kMean, BatchNormStatistics::kSynchronised}) {
    StrategyOptions shared{.batch_norm_statistics = statistics}, copies = shared, ring, staged = shared;
    copies.variable_update = VariableUpdate::kReplicated;
    ring = copies;
    ring.exchange.all_reduce_spec = ParseAllReduceSpec("xring#2");
    staged.staged_variables = true;
    kinds.insert(kinds.end(), {shared, copies, ring, staged});
  }
  return kinds;
}

void ExpectTheSameBits(int towers, const std::vector<uint64_t>& seeds) {
  int kind = 0;
  for (const StrategyOptions& strategy : Kinds()) {
    SCOPED_TRACE(kind++);
    const std::vector<float> expected = Train(strategy, CpuDevices(towers), OnCpus(towers));
    EXPECT_EQ(Train(strategy, CpuDevices(towers), OnCpus(towers)), expected);
    for (uint64_t seed : seeds)
      EXPECT_EQ(Train(strategy, GpuDevices(towers), OnSimulatedGpus(towers, seed)), expected) << "seed " << seed;
  }
}

TEST(NormedTowers, FourHaveTheSameBitsInAnyOrder) { ExpectTheSameBits(4, {0, 1, 2}); }
TEST(NormedTowers, EightHaveTheSameBitsInAnyOrder) { ExpectTheSameBits(8, {3}); }

std::vector<uint64_t> AHundredSeeds() {
  std::vector<uint64_t> seeds;
  for (uint64_t seed = 1; seed <= 100; ++seed) seeds.push_back(seed);
  return seeds;
}

TEST(SlowNormedTowers, FourHaveTheSameBitsForAHundredSeeds) { ExpectTheSameBits(4, AHundredSeeds()); }

}  // namespace
}  // namespace muster::train
