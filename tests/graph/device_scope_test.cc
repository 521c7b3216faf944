// Device scopes: how strings, functions and colocation combine to what a node asks for.

#include <gtest/gtest.h>

#include "muster/ops.h"

namespace muster {
namespace {

class DeviceScope : public testing::Test {
 protected:
  std::string DeviceOf(const Scope& scope) { return graph_.node(ops::NoOp(scope)).device.ToString(); }

  Graph graph_;
  Scope root_{&graph_};
};

}  // namespace

TEST_F(DeviceScope, WithoutAScopeANodeAsksForNothing) { EXPECT_EQ(DeviceOf(root_), ""); }

TEST_F(DeviceScope, TheInnermostScopeThatSetsAPartWins) {
  const Scope worker = root_.WithDevice("/job:worker/task:1");
  EXPECT_EQ(DeviceOf(worker.WithDevice("/gpu:2")), "/job:worker/task:1/device:GPU:2");
  EXPECT_EQ(DeviceOf(worker.WithDevice("/gpu:2").WithDevice("/job:ps/cpu:0")), "/job:ps/task:1/device:CPU:0");
  EXPECT_EQ(DeviceOf(worker), "/job:worker/task:1");
}

TEST_F(DeviceScope, TypeAndIndexAreSeparateParts) {
  EXPECT_EQ(DeviceOf(root_.WithDevice("/cpu:3").WithDevice("/gpu")), "/device:GPU:3");
  EXPECT_EQ(DeviceOf(root_.WithDevice("/gpu:3").WithDevice("/device:*:1")), "/device:GPU:1");
}

TEST_F(DeviceScope, CuttingOffForgetsAllScopesAround) {
  const Scope cut = root_.WithDevice("/job:worker").WithDevice("/gpu:1").WithoutDevice();
  EXPECT_EQ(DeviceOf(cut), "");
  EXPECT_EQ(DeviceOf(cut.WithDevice("/cpu:0")), "/device:CPU:0");
}

TEST_F(DeviceScope, AnUnreadableStringIsAnErrorWhereTheScopeIsMade) {
  EXPECT_THROW(root_.WithDevice("/job:ps/grill:1"), Error);
  EXPECT_THROW(root_.WithDevice("/gpu:x"), Error);
}

TEST_F(DeviceScope, AFunctionSeesTheNodeWithItsDeviceSoFar) {
  std::vector<std::string> seen;
  const Scope scope = root_.WithDevice("/job:worker").WithDeviceFunction([&](const Node& node) {
    seen.push_back(node.name + " " + std::string(OpName(node.kind)) + " " + node.device.ToString());
    return node.device.ToString();
  });
  const Output x = ops::Fill(scope.WithDevice("/gpu:1").Named("x"), DType::kFloat32, Shape{2}, 0);
  EXPECT_EQ(graph_.node(x.node).device.ToString(), "/job:worker/device:GPU:1");
  EXPECT_EQ(seen, std::vector<std::string>{"x Fill /device:GPU:1"});
}

TEST_F(DeviceScope, AFunctionsAnswerTakesThePlaceOfTheDeviceInside) {
  const Scope scope = root_.WithDevice("/task:3").WithDeviceFunction([](const Node&) { return "/cpu:0"; });
  EXPECT_EQ(DeviceOf(scope), "/task:3/device:CPU:0");
  EXPECT_EQ(DeviceOf(scope.WithDevice("/job:ps/gpu:1")), "/task:3/device:CPU:0");
  EXPECT_EQ(DeviceOf(scope.WithoutDevice().WithDevice("/gpu:1")), "/device:GPU:1");
}

TEST_F(DeviceScope, VariablesCanGoOneWayAndTheRestAnother) {
  const Scope scope = root_.WithDeviceFunction([](const Node& node) {
    const bool is_variable = node.kind == OpKind::kVariable;
    return node.device.MergedInto(DeviceName::Parse(is_variable ? "/job:ps/task:0" : "/job:worker/task:1")).ToString();
  });
  const Variable v = ops::MakeVariable(scope, "v", ops::Scalar<float>(scope, 1));
  const Output y = ops::Neg(scope.WithDevice("/gpu:1"), v);
  EXPECT_EQ(graph_.node(v.ref.node).device.ToString(), "/job:ps/task:0");
  EXPECT_EQ(graph_.node(y.node).device.ToString(), "/job:worker/task:1/device:GPU:1");
}

TEST_F(DeviceScope, FunctionsNestInnermostFirst) {
  std::string order;
  const Scope outer = root_.WithDeviceFunction([&](const Node& node) { return order += "o", node.device.ToString(); });
  const Scope inner = outer.WithDevice("/gpu:1").WithDeviceFunction(
      [&](const Node& node) { return order += "i", node.device.ToString(); });
  EXPECT_EQ(DeviceOf(inner.WithDevice("/cpu")), "/device:CPU:1");
  EXPECT_EQ(order, "io");
}

TEST_F(DeviceScope, AFunctionsUnreadableAnswerIsAnError) {
  EXPECT_THROW(ops::NoOp(root_.WithDeviceFunction([](const Node&) { return "somewhere"; })), Error);
}

TEST_F(DeviceScope, ColocationBeatsScopes) {
  const Variable v = ops::MakeVariable(root_.WithDevice("/cpu:0"), "v", ops::Scalar<float>(root_, 1));
  const Scope beside =
      root_.WithDevice("/gpu:1").WithDeviceFunction([](const Node&) { return "/gpu:2"; }).ColocatedWith(v.ref.node);
  const Output y = ops::Neg(beside, v);
  EXPECT_TRUE(graph_.node(y.node).device.is_empty());
  EXPECT_EQ(graph_.node(y.node).colocate_with, std::vector<std::string>{"v"});
}

}  // namespace muster
