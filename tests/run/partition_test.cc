// Two devices in one process: partitions, channels and driver threads, with reference kernels so that the thread
// sanitizer sees everything.

#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

SessionOptions TwoDevices() { return {.num_cpu_devices = 2, .backend = "reference"}; }

}  // namespace

TEST(Partition, AValueCrossesOnceHoweverManyReadIt) {
  Graph graph;
  Scope root(&graph);
  Variable a = ops::MakeVariable(root.WithDevice("/cpu:0"), "a", ops::Fill(root, DType::kFloat32, Shape{4}, 3));
  Scope second = root.WithDevice("/cpu:1");
  Output sum = ops::Add(second, ops::Square(second, a), ops::Neg(second, a));
  Session session(&graph, TwoDevices());
  session.Initialize();
  auto runner = session.Prepare({}, {sum});
  EXPECT_EQ(runner->stats().steps_by_op.at("_Send"), 1);
  EXPECT_EQ(runner->stats().steps_by_op.at("_Recv"), 1);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(runner->Run()[0].data<float>()[3], 6);
}

TEST(Partition, TowersThatShareAVariableFollowTheClosedForm) {
  // loss = mean over two towers of (a - 10)^2; a += 2 lr (10 - a) per step.
  Graph graph;
  Scope root(&graph);
  Variable a = ops::MakeVariable(root.WithDevice("/cpu:0"), "a", ops::ScalarLike(root, 0, DType::kFloat64));
  std::vector<Output> gradients;
  for (const char* device : {"/cpu:0", "/cpu:1"}) {
    Scope tower = root.WithName("tower").WithDevice(device);
    Output loss = ops::Square(tower, ops::Sub(tower, a, ops::ScalarLike(tower, 10, DType::kFloat64)));
    gradients.push_back(Gradients(tower, loss, {a})[0]);
  }
  Scope home = root.WithDevice("/cpu:0");
  Output mean = ops::Mul(home, ops::AddN(home, gradients), ops::ScalarLike(home, 0.5, DType::kFloat64));
  NodeId train = ops::ApplyGradientDescent(home, a, ops::ScalarLike(home, 0.1, DType::kFloat64), mean);
  Session session(&graph, TwoDevices());
  session.Initialize();
  double expected = 0;
  for (int step = 0; step < 20; ++step) {
    session.Run({}, {}, {train});
    expected += 0.2 * (10 - expected);
    EXPECT_NEAR(session.ReadVariable(a).scalar<double>(), expected, 1e-12);
  }
}

TEST(Partition, ADeviceThatDoesNotExistIsNamedTogetherWithThoseThatDo) {
  Graph graph;
  Scope root(&graph);
  Output x = ops::Neg(root.WithDevice("/gpu:3"), ops::ScalarLike(root, 1, DType::kFloat32));
  SessionOptions options = TwoDevices();
  options.allow_soft_placement = false;
  Session session(&graph, options);
  try {
    session.Run({}, {x});
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("/device:GPU:3"), std::string::npos) << text;
    EXPECT_NE(text.find("/job:localhost/replica:0/task:0/device:CPU:1"), std::string::npos) << text;
  }
}

}  // namespace muster
