#include "train/checkpoint_names.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/models.h"
#include "muster/ops/array.h"
#include "muster/strategy.h"
#include "muster/variables.h"
#include "tests/testing/golden.h"
#include "train/checkpoint_folder.h"

namespace muster::train {
namespace {

std::unique_ptr<Optimizer> OptimizerOf(const std::string& name) {
  if (name == "momentum") return MomentumOptimizer(0.1, 0.9);
  if (name == "adam") return AdamOptimizer(0.1);
  if (name == "rmsprop") return RMSPropOptimizer(0.1, {.momentum = 0.9});
  return GradientDescentOptimizer(0.1);
}

// One tower of resnet20 as the commands build it: "muster bench" in the variable scope "v", "muster train" in none.
void BuildResnet20(Graph* graph, const std::string& optimizer, const std::string& variable_scope) {
  Scope scope(graph);
  if (!variable_scope.empty()) scope = scope.WithVariableScope(variable_scope);
  const Output images = ops::Placeholder(scope.Named("images"), DType::kFloat32, {2, 32, 32, 3});
  const Output labels = ops::Placeholder(scope.Named("labels"), DType::kInt32, {2});
  const Tower tower = BuildTrainingTower(scope, FindModel("resnet20", "cifar10"), images, labels, {});
  BuildTrainStep(Scope(graph), tower, *OptimizerOf(optimizer), GlobalStep(Scope(graph)));
}

using Names = std::map<std::string, std::string>;  // to type and shape

Names NamesOf(const Graph& graph) {
  Names names;
  for (const SavedVariable& variable : CheckpointVariables(graph))
    EXPECT_TRUE(names.emplace(variable.name, graph.desc(variable.ref).ToString()).second) << variable.name << " twice";
  return names;
}

Names GoldenNames(const std::string& run) {
  const nlohmann::json table = testing::GoldenJson("cnn_benchmarks/checkpoint_names.json");
  Names names;
  for (const nlohmann::json& variable : table[run]["variables"]) {
    const auto dims = variable[2].get<std::vector<int64_t>>();
    names[variable[0]] = variable[1].get<std::string>() + Shape(dims).ToString();
  }
  return names;
}

class GoldenCheckpointNames : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenCheckpointNames, AreThoseOfTfCnnBenchmarks) {
  for (const char* scope : {"v", ""}) {
    Graph graph;
    BuildResnet20(&graph, GetParam(), scope);
    EXPECT_EQ(NamesOf(graph), GoldenNames(GetParam())) << "variable scope '" << scope << "'";
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, GoldenCheckpointNames,
                         ::testing::Values("parameter_server", "momentum", "adam", "rmsprop"));

// Of the optimizer's own state too, which has no "v1/" in front.
TEST(CheckpointNames, VariablesThatTowersSaveAreThoseOfACheckpoint) {
  Graph graph;
  const Scope scope(&graph);
  std::vector<Variable> variables;
  for (const char* name : {"v0/cg/w", "v1/cg/w", "beta1_power", "beta1_power_1", "staged/w"})
    variables.push_back(GetVariable(scope, {name, DType::kFloat32, {1}, initializers::Zeros()}));
  const auto saved = [&](VariableUpdate mode) {
    std::vector<std::string> names;
    for (const Variable& variable : SavedVariables(graph, mode)) names.push_back(VariableName(graph, variable));
    return names;
  };
  EXPECT_THAT(saved(VariableUpdate::kReplicated), ::testing::ElementsAre("v0/cg/w", "beta1_power"));
  EXPECT_THAT(saved(VariableUpdate::kIndependent),
              ::testing::ElementsAre("v0/cg/w", "v1/cg/w", "beta1_power", "beta1_power_1"));
  EXPECT_EQ(SavedVariables(graph, VariableUpdate::kReplicated)[0].initializer, variables[0].initializer);
}

// A checkpoint from training without a loss scale is no other model's.
TEST(CheckpointNames, OnlyTheLossScaleIsOptional) {
  Graph graph;
  const Scope scope(&graph);
  for (const char* name : {"v/cg/w", "loss_scale", "loss_scale_normal_steps", "v/loss_scale"})
    GetVariable(scope, {name, DType::kFloat32, {1}, initializers::Zeros()});
  std::vector<std::string> optional;
  for (const SavedVariable& variable : CheckpointVariables(graph))
    if (variable.is_optional) optional.push_back(variable.name);
  EXPECT_THAT(optional, ::testing::ElementsAre("loss_scale", "loss_scale_normal_steps"));
}

TEST(CheckpointNames, EqualCopiesAreSavedOnceAndAllRestored) {
  Graph graph;
  const Scope scope(&graph);
  for (const char* name : {"v0/cg/w", "v1/cg/w"})
    GetVariable(scope, {name, DType::kFloat32, {1}, initializers::Zeros()});
  const std::vector<SavedVariable> equal = CheckpointVariables(graph, true), apart = CheckpointVariables(graph, false);
  EXPECT_EQ(equal[0].name, "v0/cg/w");
  EXPECT_EQ(equal[1].name, "v0/cg/w");
  EXPECT_THAT(equal[1].other_names, ::testing::ElementsAre("v/cg/w"));
  EXPECT_EQ(apart[1].name, "v1/cg/w");
  EXPECT_THAT(apart[1].other_names, ::testing::ElementsAre("v/cg/w", "v0/cg/w"));
}

// Each copy has an optimizer of its own, with powers of its own.
TEST(CheckpointNames, PowersOfBetaAreThoseOfTheFirstCopy) {
  Graph graph;
  const Scope scope(&graph);
  for (const char* name : {"beta1_power", "beta1_power_1", "iteration_2", "beta1_powers"})
    GetVariable(scope, {name, DType::kFloat32, {}, initializers::Zeros(), false});
  const std::vector<SavedVariable> equal = CheckpointVariables(graph, true), apart = CheckpointVariables(graph, false);
  EXPECT_EQ(equal[0].name, "append_apply_gradient_ops/beta1_power");
  EXPECT_EQ(equal[1].name, "append_apply_gradient_ops/beta1_power");
  EXPECT_EQ(equal[2].name, "iteration");
  EXPECT_EQ(equal[3].name, "beta1_powers");
  EXPECT_EQ(apart[1].name, "append_apply_gradient_ops/beta1_power_1");
  EXPECT_THAT(apart[1].other_names, ::testing::ElementsAre("append_apply_gradient_ops/beta1_power"));
  EXPECT_EQ(apart[2].name, "iteration_2");
  EXPECT_THAT(apart[2].other_names, ::testing::ElementsAre("iteration"));
}

TEST(CheckpointNames, SyntheticImagesAreNoState) {
  Graph graph;
  GetVariable(Scope(&graph), {"tower_0/gpu_cached_inputs", DType::kFloat32, {1}, initializers::Zeros(), false});
  EXPECT_TRUE(CheckpointVariables(graph).empty());
}

}  // namespace
}  // namespace muster::train
