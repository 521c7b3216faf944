// A checkpoint of any one-process mode goes on in any other.

#include <gtest/gtest.h>

#include <filesystem>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/saver.h"
#include "muster/strategy.h"
#include "tests/train/towers_on_devices.h"
#include "train/checkpoint_names.h"

namespace muster::train {
namespace {

// A dense layer that learns by Adam. All towers see the same batch, so that every mode makes the steps of a single
// tower.
class Dense {
 public:
  Dense(StrategyOptions strategy, int towers)
      : towers_(towers), copies_are_equal_(strategy.variable_update == VariableUpdate::kReplicated) {
    strategy.tower_devices = CpuDevices(towers);
    const auto build = [&](const Scope& scope, int, const TowerOptions& options) {
      const Output x = ops::Placeholder(scope, DType::kFloat32, {4, 3});
      feeds_.push_back(x);
      Tower tower;
      const Scope inner = scope.WithVariableScope("cg");
      tower.variables = {
          options.layers.get_variable(inner, {"w", DType::kFloat32, {3, 2}, initializers::Constant(0.5)})};
      tower.base_loss = tower.total_loss =
          ops::Mean(scope, ops::Square(scope, ops::MatMul(scope, x, tower.variables[0])));
      tower.gradients = Gradients(scope, tower.total_loss, {tower.variables[0]});
      return tower;
    };
    const Output global_step = GlobalStep(Scope(&graph_).WithDevice("/cpu:0"));
    set_ = BuildTrainingTowers(
        Scope(&graph_), strategy, {}, build, [] { return AdamOptimizer(0.1); }, global_step);
    session_ = std::make_unique<Session>(&graph_, OnCpus(towers));
    session_->Initialize();
    runner_ = session_->Prepare(feeds_, {set_.total_loss}, {set_.train_step});
    saver_ = std::make_unique<Saver>(&graph_, CheckpointVariables(graph_, copies_are_equal_),
                                     SaverOptions{.write_meta_graph = false});
  }

  std::vector<float> Train(int from, int to) {
    std::vector<float> losses;
    for (int step = from; step < to; ++step) {
      std::vector<Tensor> values;
      for (int t = 0; t < towers_; ++t) {
        Tensor x(DType::kFloat32, {4, 3});
        for (size_t e = 0; e < 12; ++e)
          x.data<float>()[e] = static_cast<float>((e * 7 + static_cast<size_t>(step) * 5) % 11) / 11;
        values.push_back(x);
      }
      losses.push_back(runner_->Run(values)[0].scalar<float>());
    }
    return losses;
  }
  std::string Save(const std::string& prefix) { return saver_->Save(*session_, prefix, 3); }
  void Restore(const std::string& path) { saver_->Restore(*session_, path); }

 private:
  int towers_;
  bool copies_are_equal_;
  Graph graph_;
  std::vector<Output> feeds_;
  TowerSet set_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<Saver> saver_;
};

struct Mode {
  std::string name;
  StrategyOptions strategy;
  int towers;
};

std::vector<Mode> Modes() {
  std::vector<Mode> modes;
  for (const int towers : {1, 2, 3})
    for (const VariableUpdate update :
         {VariableUpdate::kParameterServer, VariableUpdate::kReplicated, VariableUpdate::kIndependent})
      modes.push_back({"mode " + std::to_string(static_cast<int>(update)) + " with " + std::to_string(towers),
                       {.variable_update = update},
                       towers});
  modes.push_back({"on the CPU", {.parameter_device = "/cpu:0"}, 2});
  return modes;
}

TEST(ModeSwitch, AnyModeGoesOnFromAnyOthersCheckpoint) {
  const std::string folder = ::testing::TempDir() + "mode_switch/";
  std::filesystem::create_directories(folder);
  Dense whole({}, 1);
  const std::vector<float> before = whole.Train(0, 3), after = whole.Train(3, 6);
  for (const Mode& first : Modes()) {
    Dense starts(first.strategy, first.towers);
    const std::vector<float> losses = starts.Train(0, 3);
    for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], before[i], 1e-5) << first.name;
    const std::string path = starts.Save(folder + "model.ckpt");
    for (const Mode& second : Modes()) {
      Dense goes_on(second.strategy, second.towers);
      ASSERT_NO_THROW(goes_on.Restore(path)) << first.name << ", then " << second.name;
      const std::vector<float> rest = goes_on.Train(3, 6);
      for (size_t i = 0; i < rest.size(); ++i)
        EXPECT_NEAR(rest[i], after[i], 1e-5) << first.name << ", then " << second.name;
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace muster::train
