// The automatic loss scale: rules of the peer's own test, and what a skipped step leaves alone.

#include <gtest/gtest.h>

#include <limits>

#include "muster/error.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"
#include "muster/strategy.h"

namespace muster {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

struct Setting {
  VariableUpdate variable_update = VariableUpdate::kParameterServer;
  std::string optimizer = "momentum";
  LossScaling scaling{.initial = 4, .automatic = true, .increase_every = 10};
  bool on_simulated_gpus = false;
};

std::unique_ptr<Optimizer> OptimizerCalled(const std::string& name) {
  if (name == "sgd") return GradientDescentOptimizer(0.5);
  if (name == "rmsprop") return RMSPropOptimizer(0.5, {.momentum = 0.9});
  if (name == "adam") return AdamOptimizer(0.5);
  return MomentumOptimizer(0.5, 0.9, true);
}

// Two towers with one variable of two numbers each, whose gradients are fed.
class ScaledRun {
 public:
  explicit ScaledRun(const Setting& setting) {
    StrategyOptions strategy;
    strategy.variable_update = setting.variable_update;
    const std::string device = setting.on_simulated_gpus ? "/gpu:" : "/cpu:";
    strategy.tower_devices = {device + "0", device + "1"};
    strategy.parameter_device = "/cpu:0";
    strategy.loss_scaling = setting.scaling;
    const TowerBuilder build = [this](const Scope& scope, int, const TowerOptions& options) {
      Tower tower;
      tower.variables = {options.layers.get_variable(scope, {"w", DType::kFloat32, {2}, initializers::Constant(1)})};
      gradients_.push_back(ops::Placeholder(scope.Named("gradient"), DType::kFloat32, {2}));
      tower.gradients = {gradients_.back()};
      tower.base_loss = tower.total_loss = ops::Sum(scope, tower.variables[0]);
      return tower;
    };
    const Scope root(&graph_);
    set_ = BuildTrainingTowers(
        root, strategy, {}, build, [&] { return OptimizerCalled(setting.optimizer); },
        GlobalStep(root.WithDevice("/cpu:0")));
    SessionOptions options{.num_cpu_devices = setting.on_simulated_gpus ? 1 : 2,
                           .num_gpus = setting.on_simulated_gpus ? 2 : 0,
                           .intra_op_threads = 1};
    options.gpu.simulated_gpus = setting.on_simulated_gpus ? 2 : 0;
    options.gpu.delay_seed = 3;
    options.gpu.check_hazards = setting.on_simulated_gpus;
    session_ = std::make_unique<Session>(&graph_, options);
    session_->Initialize();
  }

  void Set(float scale, int32_t normal_steps) {
    session_->WriteVariable(set_.loss_scale, Tensor::Scalar<float>(scale));
    session_->WriteVariable(set_.loss_scale_normal_steps, Tensor::Scalar<int32_t>(normal_steps));
  }
  // One step with this gradient on the second tower; the first one's is 1.
  void Step(float gradient) {
    const std::vector<float> good{1, 1}, given{1, gradient};
    session_->Run({{gradients_[0], Tensor::Of<float>({2}, std::span<const float>(good))},
                   {gradients_[1], Tensor::Of<float>({2}, std::span<const float>(given))}},
                  {}, {set_.train_step});
  }
  float scale() { return session_->ReadVariable(set_.loss_scale).scalar<float>(); }
  int32_t normal_steps() { return session_->ReadVariable(set_.loss_scale_normal_steps).scalar<int32_t>(); }

  // Weights, slots and powers, by name; not what counts steps.
  std::vector<float> Trained() {
    std::vector<float> values;
    for (const VariableInfo& info : graph_.variables()) {
      if (info.name == "global_step" || info.name.starts_with("loss_scale")) continue;
      const Tensor value = session_->ReadVariable(info.ref);
      values.insert(values.end(), value.data<float>().begin(), value.data<float>().end());
    }
    return values;
  }
  int64_t global_step() { return session_->ReadVariable(Output{graph_.Find("global_step"), 0}).scalar<int64_t>(); }

 private:
  Graph graph_;
  std::vector<Output> gradients_;
  TowerSet set_;
  std::unique_ptr<Session> session_;
};

constexpr VariableUpdate kModes[] = {VariableUpdate::kParameterServer, VariableUpdate::kReplicated,
                                     VariableUpdate::kIndependent};

TEST(LossScale, StartsAtItsFirstValue) {
  ScaledRun run({});
  EXPECT_EQ(run.scale(), 4);
  EXPECT_EQ(run.normal_steps(), 0);
}

TEST(LossScale, AStepBehindEnoughFiniteOnesDoublesIt) {
  for (VariableUpdate mode : kModes) {
    ScaledRun run({.variable_update = mode});
    run.Set(4, 10);
    run.Step(1);
    EXPECT_EQ(run.scale(), 8);
    EXPECT_EQ(run.normal_steps(), 0);
    run.Set(4, 9);
    run.Step(1);
    EXPECT_EQ(run.scale(), 4);
    EXPECT_EQ(run.normal_steps(), 10);
  }
}

// Whatever the optimizer remembers, it stays; the global step goes on.
TEST(LossScale, AGradientThatIsNotFiniteHalvesItAndChangesNoVariable) {
  for (VariableUpdate mode : {VariableUpdate::kParameterServer, VariableUpdate::kReplicated})
    for (const char* optimizer : {"sgd", "momentum", "rmsprop", "adam"})
      for (float bad : {kInfinity, -kInfinity, kNan}) {
        SCOPED_TRACE(optimizer);
        ScaledRun run({.variable_update = mode, .optimizer = optimizer});
        run.Step(2);
        const std::vector<float> before = run.Trained();
        run.Set(4, 10);
        run.Step(bad);
        EXPECT_EQ(run.scale(), 2);
        EXPECT_EQ(run.normal_steps(), 0);
        EXPECT_EQ(run.Trained(), before);
        EXPECT_EQ(run.global_step(), 2);
        run.Step(2);
        EXPECT_NE(run.Trained(), before);
      }
}

// As in the peer.
TEST(LossScale, OfIndependentTowersTheFirstDecides) {
  ScaledRun run({.variable_update = VariableUpdate::kIndependent, .optimizer = "sgd"});
  run.Step(kInfinity);
  EXPECT_EQ(run.scale(), 4);
  EXPECT_EQ(run.normal_steps(), 1);
}

TEST(LossScale, AFixedOneNeitherChangesNorLooksAtGradients) {
  ScaledRun run({.optimizer = "sgd", .scaling = {.initial = 4}});
  run.Step(kInfinity);
  EXPECT_EQ(run.scale(), 4);
  EXPECT_EQ(run.normal_steps(), 0);
  EXPECT_EQ(run.Trained()[1], -kInfinity);
}

// There a kernel runs when its stream comes to it, and so must the look at the condition.
TEST(LossScale, WorksOnSimulatedGpus) {
  for (VariableUpdate mode : {VariableUpdate::kParameterServer, VariableUpdate::kReplicated}) {
    ScaledRun run({.variable_update = mode, .on_simulated_gpus = true});
    run.Step(2);
    const std::vector<float> before = run.Trained();
    run.Step(kNan);
    EXPECT_EQ(run.Trained(), before);
    EXPECT_EQ(run.scale(), 2);
    run.Step(2);
    EXPECT_NE(run.Trained(), before);
    EXPECT_EQ(run.scale(), 2);
  }
}

TEST(LossScale, AnAutomaticOneCannotGoWithStagedVariables) {
  StrategyOptions strategy;
  strategy.staged_variables = true;
  strategy.loss_scaling.automatic = true;
  Graph graph;
  const TowerBuilder build = [](const Scope&, int, const TowerOptions&) { return Tower{}; };
  EXPECT_THROW(BuildTrainingTowers(Scope(&graph), strategy, {}, build, [] { return GradientDescentOptimizer(1); }),
               Error);
}

}  // namespace
}  // namespace muster
