// The waits of plans that exchange gradients in buckets, in a ring and on the way through the host: each is needed.

#include <memory>

#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/strategy.h"
#include "tests/run/plan_workbench.h"
#include "tests/train/towers_on_devices.h"

namespace muster::train {
namespace {

constexpr int kTowers = 3;

// Two dense layers in each tower, with inputs of its own.
class Workbench {
 public:
  explicit Workbench(StrategyOptions strategy) {
    strategy.tower_devices = GpuDevices(kTowers);
    const auto build = [&](const Scope& scope, int, const TowerOptions& options) {
      const Output x = ops::RandomUniform(scope, DType::kFloat32, Shape{4, 6});
      const Scope inner = scope.WithVariableScope("cg");
      Tower tower;
      tower.variables = {
          options.layers.get_variable(inner, {"hidden", DType::kFloat32, {6, 5}, initializers::Constant(0.5)}),
          options.layers.get_variable(inner, {"top", DType::kFloat32, {5, 3}, initializers::Constant(0.25)})};
      const Output hidden = ops::Relu(scope, ops::MatMul(scope, x, tower.variables[0]));
      tower.base_loss = tower.total_loss =
          ops::Mean(scope, ops::Square(scope, ops::MatMul(scope, hidden, tower.variables[1])));
      tower.gradients = Gradients(scope, tower.total_loss, {tower.variables[0], tower.variables[1]});
      return tower;
    };
    set_ = BuildTrainingTowers(Scope(&graph_), strategy, {}, build, [] { return GradientDescentOptimizer(0.1); });
    SessionOptions devices = OnSimulatedGpus(kTowers, 0);
    devices.backend = "reference";
    bench_ = std::make_unique<testing::PlanWorkbench>(graph_, std::vector<Output>{set_.total_loss},
                                                      std::vector<NodeId>{set_.train_step}, devices);
  }

  Plan CompileOnce() { return bench_->CompileOnce(); }
  void Run(Plan plan) { bench_->Run(std::move(plan)); }

 private:
  Graph graph_;
  TowerSet set_;
  std::unique_ptr<testing::PlanWorkbench> bench_;
};

StrategyOptions Replicated(int64_t bucket_bytes, const std::string& spec = "") {
  StrategyOptions strategy{.variable_update = VariableUpdate::kReplicated};
  strategy.exchange.first_bucket_bytes = strategy.exchange.bucket_bytes = bucket_bytes;
  if (!spec.empty()) strategy.exchange.all_reduce_spec = ParseAllReduceSpec(spec);
  return strategy;
}

void ExpectEveryWaitIsNeeded(const StrategyOptions& strategy) {
  EXPECT_GT(testing::ExpectEveryWaitIsNeeded([&] { return std::make_unique<Workbench>(strategy); }), 2 * kTowers);
}

TEST(ExchangeWaits, InBucketsEachIsNeeded) { ExpectEveryWaitIsNeeded(Replicated(1 << 20)); }
TEST(ExchangeWaits, InABucketForEachLayerEachIsNeeded) { ExpectEveryWaitIsNeeded(Replicated(64)); }
TEST(ExchangeWaits, InARingEachIsNeeded) { ExpectEveryWaitIsNeeded(Replicated(0, "xring")); }
TEST(ExchangeWaits, InARingOfBucketsEachIsNeeded) { ExpectEveryWaitIsNeeded(Replicated(1 << 20, "xring")); }
TEST(ExchangeWaits, WithSharedVariablesEachIsNeeded) { ExpectEveryWaitIsNeeded({}); }

}  // namespace
}  // namespace muster::train
