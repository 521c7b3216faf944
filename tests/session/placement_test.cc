// The placement of a session: its log, its list of what soft placement moved, and that plans follow it.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTask[] = "/job:localhost/replica:0/task:0";

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.substr(at, end - at));
  return lines;
}

SessionOptions TwoDevices() { return {.num_cpu_devices = 2, .backend = "reference"}; }

}  // namespace

TEST(SessionPlacement, TheLogHasEachOperationOnceHoweverManyPlansAreMade) {
  Graph graph;
  Scope root(&graph);
  const Variable v = ops::MakeVariable(root.WithDevice("/cpu:1"), "v", ops::Scalar<float>(root, 2));
  const Output y = ops::Square(root.Named("y"), v);
  SessionOptions options = TwoDevices();
  options.log_device_placement = true;
  ::testing::internal::CaptureStderr();
  Session session(&graph, options);
  session.Initialize();
  session.Run({}, {y});
  const Output z = ops::Neg(root.Named("z"), y);  // the graph grows
  for (int i = 0; i < 2; ++i) session.Run({}, {y, z});
  const std::string task = kTask;
  EXPECT_THAT(Lines(::testing::internal::GetCapturedStderr()),
              ElementsAre("Const: (Const): " + task + "/device:CPU:1", "v: (Variable): " + task + "/device:CPU:1",
                          "v/Assign: (Assign): " + task + "/device:CPU:1", "y: (Square): " + task + "/device:CPU:0",
                          "z: (Neg): " + task + "/device:CPU:0"));
}

TEST(SessionPlacement, WithoutTheOptionNothingIsLogged) {
  Graph graph;
  Scope root(&graph);
  const Output y = ops::Square(root, ops::Scalar<float>(root, 2));
  ::testing::internal::CaptureStderr();
  Session session(&graph, TwoDevices());
  session.Run({}, {y});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(SessionPlacement, WhatSoftPlacementMovedIsListed) {
  Graph graph;
  Scope root(&graph);
  const Output y = ops::Square(root.WithDevice("/gpu:3").Named("y"), ops::Scalar<float>(root, 2));
  Session session(&graph, TwoDevices());
  EXPECT_EQ(session.Run({}, {y})[0].scalar<float>(), 4);
  EXPECT_THAT(session.SoftPlacements(),
              ElementsAre(SoftPlacement{"y", "Square", "/device:GPU:3", std::string(kTask) + "/device:CPU:0",
                                        "no such device"}));
}

TEST(SessionPlacement, OnGpusWhatAsksForNothingGoesToTheFirstAndWhatIsMissingMoves) {
  Graph graph;
  Scope root(&graph);
  const Output free = ops::Neg(root.Named("free"), ops::Fill(root, DType::kFloat32, Shape{2}, 3));
  const Output second = ops::Neg(root.WithDevice("/gpu:1").Named("second"), free);
  const Output absent = ops::Neg(root.WithDevice("/gpu:2").Named("absent"), second);
  const Output cpu = ops::Neg(root.WithDevice("/cpu:0").Named("cpu"), absent);
  SessionOptions options{.backend = "reference"};
  options.gpu.simulated_gpus = 2;
  options.gpu.check_hazards = true;
  Session session(&graph, options);
  const std::string task = kTask;
  EXPECT_THAT(session.DevicePlacement(),
              ElementsAre("Fill: (Fill): " + task + "/device:GPU:0", "free: (Neg): " + task + "/device:GPU:0",
                          "second: (Neg): " + task + "/device:GPU:1", "absent: (Neg): " + task + "/device:GPU:0",
                          "cpu: (Neg): " + task + "/device:CPU:0"));
  ASSERT_EQ(session.SoftPlacements().size(), 1u);
  EXPECT_EQ(session.SoftPlacements()[0].node, "absent");
  EXPECT_EQ(session.Run({}, {cpu})[0].data<float>()[1], 3);
}

TEST(SessionPlacement, AVariableAndItsUpdateOnDifferentDevicesMeetOnlyWithSoftPlacement) {
  Graph graph;
  Scope root(&graph);
  const Variable v = ops::MakeVariable(root.WithDevice("/cpu:0"), "v", ops::Scalar<float>(root, 2));
  const Output add = ops::AssignAdd(root.WithDevice("/gpu:0").Named("add"), v, ops::Scalar<float>(root, 1));
  SessionOptions options{.backend = "reference"};
  options.gpu.simulated_gpus = 1;
  {
    Session session(&graph, options);
    session.Initialize();
    EXPECT_EQ(session.Run({}, {add})[0].scalar<float>(), 3);
    ASSERT_EQ(session.SoftPlacements().size(), 1u);
    EXPECT_EQ(session.SoftPlacements()[0].reason, "it shares its device with v");
  }
  options.allow_soft_placement = false;
  try {
    Session(&graph, options).Initialize();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("add asks for /device:GPU:0, but v, with which it must share a device, asks for "
                          "/device:CPU:0"));
  }
}

TEST(SessionPlacement, PlansFollowThePlacementOfTheWholeGraph) {
  // The constant's readers disagree, so it is on the first device; a plan with only one of them must not move it.
  Graph graph;
  Scope root(&graph);
  const Output x = ops::Fill(root.Named("x"), DType::kFloat32, Shape{2}, 3);
  const Output far = ops::Neg(root.WithDevice("/cpu:1").Named("far"), x);
  ops::Neg(root.WithDevice("/cpu:0").Named("near"), x);
  SessionOptions options = TwoDevices();
  options.optimize = false;  // nothing is folded
  Session session(&graph, options);
  const PlanSummary plan = session.Prepare({}, {far})->Summary();
  ASSERT_EQ(plan.transfers.size(), 1u);
  EXPECT_EQ(plan.transfers[0].value, "x");
  EXPECT_EQ(plan.transfers[0].bytes, 8);
  EXPECT_EQ(plan.transfers[0].from, std::string(kTask) + "/device:CPU:0");
  EXPECT_EQ(plan.transfers[0].to, std::string(kTask) + "/device:CPU:1");
}

TEST(SessionPlacement, TheSummaryNamesBothEndsOfATransfer) {
  Graph graph;
  Scope root(&graph);
  const Variable v = ops::MakeVariable(root.WithDevice("/cpu:0"), "v", ops::Fill(root, DType::kFloat32, Shape{4}, 1));
  const Output sum = ops::Sum(root.WithDevice("/cpu:1"), ops::Square(root.WithDevice("/cpu:1"), v));
  Session session(&graph, TwoDevices());
  const PlanSummary plan = session.Prepare({}, {sum})->Summary();
  ASSERT_EQ(plan.partitions.size(), 2u);
  ASSERT_EQ(plan.transfers.size(), 1u);
  auto end = [&](size_t partition, const char* op) {
    const auto& steps = plan.partitions[partition].steps;
    return std::count_if(steps.begin(), steps.end(), [&](const auto& s) { return s.op == op && s.transfer == 0; });
  };
  EXPECT_EQ(end(0, "_Send"), 1);
  EXPECT_EQ(end(1, "_Recv"), 1);
  EXPECT_EQ(plan.transfers[0].value, "v");
  EXPECT_EQ(plan.transfers[0].bytes, 16);
}

TEST(SessionPlacement, ThePlacedGraphAsksForWhatEachNodeHas) {
  Graph graph;
  Scope root(&graph);
  const Output x = ops::Fill(root, DType::kFloat32, Shape{2}, 3), y = ops::Neg(root.WithDevice("/cpu:1"), x);
  Session session(&graph, TwoDevices());
  const Graph placed = session.PlacedGraph();
  EXPECT_EQ(placed.node(x.node).device.ToString(), std::string(kTask) + "/device:CPU:1");
  EXPECT_EQ(placed.node(y.node).device.ToString(), std::string(kTask) + "/device:CPU:1");
  EXPECT_TRUE(graph.node(x.node).device.is_empty());
}

TEST(SessionPlacement, AVariableThatCannotBePlacedIsAnErrorForEveryUseOfTheSession) {
  Graph graph;
  Scope root(&graph);
  const Variable v = ops::MakeVariable(root.WithDevice("/job:ps/task:0").Named("v"), "v", ops::Scalar<float>(root, 2));
  const Output y = ops::Neg(root, ops::Scalar<float>(root, 1));
  Session session(&graph, TwoDevices());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(session.Initialize(), Error);
    EXPECT_THROW(session.ReadVariable(v), Error);
    EXPECT_THROW(session.Run({}, {y}), Error);
  }
  try {
    session.DevicePlacement();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("could not satisfy explicit device specification /job:ps/task:0"));
  }
}

}  // namespace muster
