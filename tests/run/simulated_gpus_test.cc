// Training across a CPU and simulated GPUs, with reference kernels so that the thread sanitizer sees everything.

#include <gtest/gtest.h>

#include "muster/error.h"
#include "tests/run/two_towers.h"

namespace muster {
namespace {

using testing::CheckedGpus;
using testing::TwoTowers;

std::vector<float> OnCpus() {
  return TwoTowers("/cpu:0", "/cpu:1", "/cpu:2").Train({.num_cpu_devices = 3, .backend = "reference"}, 5);
}

}  // namespace

TEST(SimulatedGpus, TrainAsCpuDevicesDo) {
  EXPECT_EQ(TwoTowers("/cpu:0", "/gpu:0", "/gpu:1").Train(CheckedGpus(2), 5), OnCpus());
}

TEST(SimulatedGpus, AnyMixOfDevicesGivesTheSameBits) {
  EXPECT_EQ(TwoTowers("/cpu:0", "/cpu:0", "/gpu:0").Train(CheckedGpus(1), 5), OnCpus());
  EXPECT_EQ(TwoTowers("/gpu:0", "/gpu:0", "/gpu:0").Train(CheckedGpus(1), 5), OnCpus());
  EXPECT_EQ(TwoTowers("/gpu:2", "/gpu:0", "/cpu:0").Train(CheckedGpus(3), 5), OnCpus());
}

TEST(SimulatedGpus, DelaysOfAnySeedGiveTheSameBits) {
  const std::vector<float> expected = OnCpus();
  const TwoTowers towers("/cpu:0", "/gpu:0", "/gpu:1");
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SessionOptions options = CheckedGpus(2, seed);
    options.gpu.check_hazards = seed % 2 == 0;  // with the plain CPU device too
    EXPECT_EQ(towers.Train(options, 5), expected) << "seed " << seed;
  }
}

TEST(SimulatedGpus, TrainWithoutPassesAndArena) {
  SessionOptions options = CheckedGpus(2, 3);
  options.optimize = false;
  options.use_arena = false;
  EXPECT_EQ(TwoTowers("/cpu:0", "/gpu:0", "/gpu:1").Train(options, 5), OnCpus());
}

TEST(SimulatedGpus, AFailingStepNamesNodeDeviceAndStepAndTheNextOneRuns) {
  Graph graph;
  Scope root(&graph);
  const Output labels = ops::Placeholder(root.WithDevice("/cpu:0"), DType::kInt32, Shape{2});
  const Scope gpu = root.WithDevice("/gpu:1");
  const Output logits = ops::Fill(gpu, DType::kFloat32, Shape{2, 3}, 0);
  const Output losses = ops::SparseSoftmaxCrossEntropyWithLogits(gpu.Named("xent"), logits, labels);
  const Output sum = ops::Sum(root.WithDevice("/gpu:0"), losses);
  const Output result = ops::Neg(root.WithDevice("/cpu:0"), sum);
  for (uint64_t seed : {0, 1}) {
    Session session(&graph, CheckedGpus(2, seed));
    auto runner = session.Prepare({labels}, {result});
    const float good = runner->Run({Tensor::Of<int32_t>(Shape{2}, {0, 2})})[0].scalar<float>();
    try {
      runner->Run({Tensor::Of<int32_t>(Shape{2}, {0, 7})});
      FAIL();
    } catch (const Error& error) {
      const std::string text = error.what();
      for (const char* part : {"label 7", "xent", "GPU:1", "step 1"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
    EXPECT_EQ(runner->Run({Tensor::Of<int32_t>(Shape{2}, {0, 2})})[0].scalar<float>(), good);
  }
}

TEST(SimulatedGpus, AVariableThatDoesNotFitTheLimitIsRefusedWithADump) {
  Graph graph;
  Scope root(&graph);
  const Scope gpu = root.WithDevice("/gpu:0");
  ops::MakeVariable(gpu, "v", ops::Fill(gpu, DType::kFloat32, Shape{300, 1024}, 1));
  SessionOptions options = CheckedGpus(1);
  options.gpu.memory_limit_mb = 1;
  Session session(&graph, options);
  try {
    session.Initialize();
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    EXPECT_NE(std::string(error.what()).find("GPU_0_bfc is out of memory"), std::string::npos) << error.what();
    EXPECT_FALSE(error.dump().empty());
  }
}

TEST(SimulatedGpus, ThePlanForetellsWhatEachDeviceHolds) {
  const TwoTowers towers("/cpu:0", "/gpu:0", "/gpu:1");
  Session session(&towers.graph(), CheckedGpus(2));
  auto runner = session.Prepare({}, {towers.loss()}, {towers.train()});
  session.Initialize();
  runner->Run();
  const std::vector<DeviceInfo> devices = session.Devices();
  const PlanStats& stats = runner->stats();
  ASSERT_EQ(devices.size(), 3u);
  for (size_t d = 1; d < 3; ++d) {
    EXPECT_EQ(devices[d].name, stats.devices[d].device);
    EXPECT_EQ(devices[d].bytes_in_use, stats.devices[d].peak_bytes) << devices[d].name;
    EXPECT_EQ(devices[d].physical_id, static_cast<int>(d) - 1);
  }
  EXPECT_GT(stats.devices[1].channel_bytes, 0);
}

TEST(SimulatedGpus, AGuardStopsAStepOnOneGpu) {
  Graph graph;
  Scope root(&graph);
  const Scope gpu = root.WithDevice("/gpu:0");
  const Variable v = ops::MakeVariable(gpu, "v", ops::Scalar<float>(gpu, -1));
  const Output loss = ops::Log(gpu, v);
  const NodeId update = ops::AssignAdd(gpu.WithControlDependencies({loss.node}), v, ops::Scalar<float>(gpu, 5)).node;
  Session session(&graph, CheckedGpus(1));
  session.Initialize();
  auto runner = session.Prepare({}, {loss}, {update});
  runner->StopUnlessFinite(0);
  runner->Run();
  EXPECT_EQ(session.ReadVariable(v).scalar<float>(), -1);
}

TEST(SimulatedGpus, VariablesAreWrittenAndReadThroughCopies) {
  Graph graph;
  Scope root(&graph);
  const Scope gpu = root.WithDevice("/gpu:0");
  const Variable v = ops::MakeVariable(gpu, "v", ops::Fill(gpu, DType::kFloat32, Shape{3}, 0));
  Session session(&graph, CheckedGpus(1));
  session.WriteVariable(v, Tensor::Of<float>(Shape{3}, {1, 2, 3}));
  EXPECT_EQ(session.ReadVariable(v).data<float>()[2], 3);
  EXPECT_EQ(session.Run({}, {ops::Sum(gpu, v)})[0].scalar<float>(), 6);
}

}  // namespace muster
