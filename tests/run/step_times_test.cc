// The split of a step's time, and traced replays, on one CPU device, on two, and on simulated GPUs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

struct Case {
  const char* name;
  SessionOptions options;
  std::vector<std::string> devices;
};

std::vector<Case> Cases() {
  SessionOptions one{.backend = "reference"};
  SessionOptions two{.num_cpu_devices = 2, .backend = "reference"};
  SessionOptions gpus{.backend = "reference"};
  gpus.gpu.simulated_gpus = 2;
  gpus.gpu.card_memory_mb = 64;
  gpus.gpu.check_hazards = true;
  return {{"OneCpu", one, {"/cpu:0", "/cpu:0"}},
          {"TwoCpus", two, {"/cpu:0", "/cpu:1"}},
          {"TwoGpus", gpus, {"/gpu:0", "/gpu:1"}}};
}

class StepTimesTest : public ::testing::TestWithParam<Case> {
 protected:
  // x·x on the first device, the same again on the second, then an update of a variable there.
  StepTimesTest() {
    const Scope first = root_.WithDevice(GetParam().devices[0]), second = root_.WithDevice(GetParam().devices[1]);
    const Output x = ops::RandomUniform(first.Named("x"), DType::kFloat32, Shape{64, 64});
    const Output y = ops::MatMul(first.Named("y"), x, x);
    const Output z = ops::MatMul(second.Named("z"), y, y);
    const Variable v = ops::MakeVariable(second, "v", ops::Fill(second, DType::kFloat32, Shape{64, 64}, 0));
    update_ = ops::AssignAdd(second.Named("update"), v, z).node;
    session_ = std::make_unique<Session>(&graph_, GetParam().options);
    runner_ = session_->Prepare({}, {}, {update_});
    session_->Initialize();
  }

  Graph graph_;
  Scope root_{&graph_};
  NodeId update_ = kNoNode;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Runner> runner_;
};

TEST_P(StepTimesTest, EveryPartIsMeasured) {
  runner_->Run({});
  const StepTimes& times = runner_->times();
  EXPECT_GT(times.compute, 0);
  EXPECT_GE(times.exchange, 0);
  EXPECT_GE(times.update, 0);
  if (GetParam().devices[0] == GetParam().devices[1]) {
    EXPECT_EQ(times.exchange, 0);
    EXPECT_GT(times.update, 0);
  }
}

TEST_P(StepTimesTest, ATraceHasEveryStepOnce) {
  Timeline timeline;
  runner_->RunTraced({}, &timeline);
  std::multiset<std::string> names;
  for (const TimelineSpan& span : timeline.spans) {
    names.insert(span.name);
    EXPECT_GE(span.start, 0) << span.name;
    EXPECT_GE(span.seconds, 0) << span.name;
    EXPECT_GE(span.planned_seconds, 0) << span.name;
  }
  for (const char* name : {"x", "y", "z", "update"}) EXPECT_EQ(names.count(name), 1u) << name;
}

TEST_P(StepTimesTest, AStepStartsAfterWhatItReads) {
  Timeline timeline;
  runner_->RunTraced({}, &timeline);
  auto find = [&](const std::string& name) {
    for (const TimelineSpan& span : timeline.spans)
      if (span.name == name) return span;
    ADD_FAILURE() << name;
    return TimelineSpan();
  };
  const TimelineSpan y = find("y"), z = find("z");
  EXPECT_GE(z.start, y.start + y.seconds);
  EXPECT_GE(z.planned_start, y.planned_start + y.planned_seconds);
  EXPECT_EQ(y.float_ops, 2 * 64 * 64 * 64);
}

INSTANTIATE_TEST_SUITE_P(Devices, StepTimesTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster
