// Parameters spread over the tasks of a job: what tf.train.replica_device_setter does, by device strings alone.

#include "muster/replica_device_setter.h"

#include <gtest/gtest.h>

#include "muster/error.h"
#include "muster/ops.h"

namespace muster {
namespace {

class ReplicaDevices : public testing::Test {
 protected:
  std::string Of(NodeId node) const { return graph_.node(node).device.ToString(); }
  // A variable of "floats" float32 numbers and where it is asked to live.
  std::string Place(const Scope& scope, int64_t floats = 1) {
    const std::string name = "v" + std::to_string(graph_.variables().size());
    last_ = ops::MakeVariable(scope, name, ops::Fill(scope, DType::kFloat32, Shape{floats}, 0));
    return Of(last_.ref.node);
  }
  std::vector<std::string> PlaceAll(const Scope& scope, const std::vector<int64_t>& sizes) {
    std::vector<std::string> tasks;
    for (int64_t size : sizes) tasks.push_back(Place(scope, size).substr(std::string("/job:ps/task:").size()));
    return tasks;
  }

  Graph graph_;
  Scope root_{&graph_};
  Variable last_;
};

using Tasks = std::vector<std::string>;

std::string ErrorOf(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

TEST_F(ReplicaDevices, VariablesTakeTurnsInTheOrderOfTheirCreationWhateverTheirSize) {
  const Scope scope = root_.WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 3}));
  EXPECT_EQ(PlaceAll(scope, {1000, 1, 1, 1, 50}), (Tasks{"0", "1", "2", "0", "1"}));
}

TEST_F(ReplicaDevices, EverythingElseGoesToTheWorkerAndTakesNoTurn) {
  const Scope scope =
      root_.WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 2, .worker_device = "/job:worker/task:7"}));
  EXPECT_EQ(Place(scope), "/job:ps/task:0");
  EXPECT_EQ(Of(ops::Neg(scope, last_).node), "/job:worker/task:7");
  EXPECT_EQ(Of(ops::Neg(scope.WithDevice("/gpu:1"), last_).node), "/job:worker/task:7/device:GPU:1");
  EXPECT_EQ(Place(scope), "/job:ps/task:1");
}

TEST_F(ReplicaDevices, VariablesOfTheWorkerAloneNeedAPin) {
  const Scope scope = root_.WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 2}));
  EXPECT_EQ(Place(scope), "/job:ps/task:0");
  // No job in common with the parameter servers: no turn.
  EXPECT_EQ(Place(scope.WithDevice("/job:worker/task:1")), "/job:worker/task:1");
  EXPECT_EQ(Place(scope), "/job:ps/task:1");
}

TEST_F(ReplicaDevices, AnExplicitParameterServerTaskWinsAndStillTakesATurn) {
  const Scope scope = root_.WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 3}));
  EXPECT_EQ(Place(scope.WithDevice("/job:ps/task:0")), "/job:ps/task:0");  // turn 0
  EXPECT_EQ(Place(scope), "/job:ps/task:1");
  EXPECT_EQ(Place(scope.WithDevice("/job:ps/task:0")), "/job:ps/task:0");  // turn 2
  EXPECT_EQ(Place(scope.WithDevice("/cpu:0")), "/job:ps/task:0/device:CPU:0");
}

TEST_F(ReplicaDevices, TheLeastLoadedTaskIsTakenAndTheOrderMatters) {
  const auto greedy = [&](const char* name, const std::vector<int64_t>& sizes) {
    const Scope scope = root_.WithVariableScope(name).WithDeviceFunction(
        ReplicaDeviceSetter({.ps_tasks = 2, .strategy = GreedyLoadBalancing(2)}));
    return PlaceAll(scope, sizes);
  };
  EXPECT_EQ(greedy("large_first", {100, 30, 40, 20, 10}), (Tasks{"0", "1", "1", "1", "1"}));
  EXPECT_EQ(greedy("large_last", {10, 20, 30, 40, 100}), (Tasks{"0", "1", "0", "1", "0"}));
}

TEST_F(ReplicaDevices, TheLoadIsBytesUnlessAFunctionSaysOtherwise) {
  const Scope scope =
      root_.WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 2, .strategy = GreedyLoadBalancing(2)}));
  const auto place = [&](const char* name, DType dtype, int64_t size) {
    return Of(scope.AddVariableNode(name, dtype, Shape{size}));
  };
  EXPECT_EQ(place("halves", DType::kFloat16, 6), "/job:ps/task:0");   // 12 bytes
  EXPECT_EQ(place("doubles", DType::kFloat64, 2), "/job:ps/task:1");  // 16 bytes
  EXPECT_EQ(place("more", DType::kFloat32, 2), "/job:ps/task:0");     // 20 bytes in all
  EXPECT_EQ(place("last", DType::kFloat32, 1), "/job:ps/task:1");

  const PsStrategy equal = GreedyLoadBalancing(3, [](const Node&) { return 1.0; });
  EXPECT_EQ(PlaceAll(root_.WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 3, .strategy = equal})), {9, 1, 1, 1}),
            (Tasks{"0", "1", "2", "0"}));
}

TEST_F(ReplicaDevices, SlicesOfAVariableSpread) {
  const Scope slices = root_.WithVariableScope("embedding").WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 2}));
  EXPECT_EQ(PlaceAll(slices, {25, 25, 25, 25}), (Tasks{"0", "1", "0", "1"}));
}

TEST_F(ReplicaDevices, SlotsFollowTheirVariableAndTakeNoTurn) {
  const Scope scope = root_.WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 2}));
  Place(scope);
  const Variable first = last_;
  // As optimizers make them.
  const Scope beside = scope.ColocatedWith(first.ref.node);
  const Variable slot = ops::MakeVariable(beside, "v0/Momentum", ops::Fill(beside, DType::kFloat32, Shape{1}, 0));
  EXPECT_EQ(Of(slot.ref.node), "");
  EXPECT_EQ(graph_.node(slot.ref.node).colocate_with, std::vector<std::string>{graph_.node(first.ref.node).name});
  EXPECT_EQ(Place(scope.WithVariableScope("second")), "/job:ps/task:1");
}

TEST_F(ReplicaDevices, WithoutParameterServersNotEvenTheWorkersDeviceIsAskedFor) {
  EXPECT_FALSE(ReplicaDeviceSetter({.ps_tasks = 0}));
  EXPECT_FALSE(ReplicaDeviceSetter({.cluster = {{"worker", 2}}}));
  const Scope scope = root_.WithDevice("/job:worker/task:1").WithDeviceFunction(ReplicaDeviceSetter({}));
  EXPECT_EQ(Place(scope), "");
  EXPECT_EQ(Of(ops::NoOp(scope.WithDevice("/gpu:1"))), "/device:GPU:1");
}

TEST_F(ReplicaDevices, AClusterSaysHowManyTasksTheJobHas) {
  const Scope scope = root_.WithDeviceFunction(
      ReplicaDeviceSetter({.cluster = {{"keeper", 2}, {"worker", 4}}, .ps_device = "/job:keeper/cpu:0"}));
  EXPECT_EQ(Place(scope), "/job:keeper/task:0/device:CPU:0");
  EXPECT_EQ(Place(scope), "/job:keeper/task:1/device:CPU:0");
  EXPECT_EQ(Place(scope), "/job:keeper/task:0/device:CPU:0");
}

TEST_F(ReplicaDevices, WithoutMergingWhatScopesInsideAskForStands) {
  const Scope scope = root_.WithDeviceFunction(ReplicaDeviceSetter({.ps_tasks = 2, .merge_devices = false}));
  EXPECT_EQ(Place(scope.WithDevice("/cpu:0")), "/device:CPU:0");
  EXPECT_EQ(Place(scope), "/job:ps/task:0");
  EXPECT_EQ(Of(ops::NoOp(scope)), "/job:worker");
}

TEST_F(ReplicaDevices, TwoWorkersThatBuildAlikeAgree) {
  const auto build = [](int worker) {
    Graph graph;
    const Scope scope = Scope(&graph).WithDeviceFunction(
        ReplicaDeviceSetter({.ps_tasks = 3,
                             .worker_device = worker == 0 ? "/job:worker/task:0" : "/job:worker/task:1",
                             .strategy = GreedyLoadBalancing(3)}));
    std::vector<std::string> places;
    for (int64_t size : {5, 9, 2, 2, 7})
      places.push_back(
          graph.node(scope.AddVariableNode("v" + std::to_string(places.size()), DType::kFloat32, Shape{size}))
              .device.ToString());
    return places;
  };
  EXPECT_EQ(build(0), build(1));
}

TEST_F(ReplicaDevices, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { RoundRobin(0); }), "variables need at least one task to be spread over, not 0");
  EXPECT_EQ(ErrorOf([] { GreedyLoadBalancing(-1); }), "variables need at least one task to be spread over, not -1");
  EXPECT_EQ(ErrorOf([] { ReplicaDeviceSetter({.ps_tasks = -1}); }), "ps_tasks is -1, but must be at least 0");
  EXPECT_EQ(ErrorOf([] {
              ReplicaDeviceSetter({.cluster = {{"ps", 1}}, .ps_device = "/cpu:0"});
            }),
            "ps_device \"/cpu:0\" names no job of the cluster; /job:ps would");
  EXPECT_NE(ErrorOf([] { ReplicaDeviceSetter({.ps_tasks = 1, .ps_device = "/job:"}); }), "no error");
  const Scope all = root_.WithDeviceFunction(
      ReplicaDeviceSetter({.ps_tasks = 1, .ps_ops = {OpKind::kNoOp}, .strategy = GreedyLoadBalancing(1)}));
  EXPECT_EQ(ErrorOf([&] { ops::NoOp(all); }), "NoOp (NoOp) is no variable: its load in bytes is not known");
}

}  // namespace
}  // namespace muster
