// Waits between streams: as few as are needed, and none that could be left out.

#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "tests/run/plan_workbench.h"
#include "tests/run/two_towers.h"

namespace muster {
namespace {

using testing::CheckedGpus;
using testing::TwoTowers;

// The plan of two towers: devices of the home and of the two towers.
class Workbench {
 public:
  Workbench(const char* home, const char* first, const char* second, int gpus)
      : towers_(home, first, second), bench_(towers_.graph(), {towers_.loss()}, {towers_.train()}, CheckedGpus(gpus)) {}

  Plan CompileOnce() { return bench_.CompileOnce(); }
  void Run(Plan plan) { bench_.Run(std::move(plan)); }

 private:
  const TwoTowers towers_;
  testing::PlanWorkbench bench_;
};

void ExpectEveryWaitIsNeeded(const char* home, const char* first, const char* second) {
  EXPECT_GT(testing::ExpectEveryWaitIsNeeded([&] { return std::make_unique<Workbench>(home, first, second, 2); }), 4);
}

}  // namespace

TEST(Streams, EveryWaitIsNeeded) {
  ExpectEveryWaitIsNeeded("/cpu:0", "/gpu:0", "/gpu:1");
  ExpectEveryWaitIsNeeded("/gpu:0", "/cpu:0", "/gpu:1");
}

TEST(Streams, EveryEventIsRecordedOnceAndWaitedFor) {
  Workbench bench("/cpu:0", "/gpu:0", "/gpu:1", 2);
  const Plan plan = bench.CompileOnce();
  std::multiset<int> recorded;
  std::set<int> awaited;
  for (const Partition& p : plan.partitions)
    for (const Step& step : p.steps) {
      recorded.insert(step.signals.begin(), step.signals.end());
      awaited.insert(step.waits.begin(), step.waits.end());
      for (int event : step.signals) EXPECT_EQ(plan.events[static_cast<size_t>(event)].stream, step.stream);
    }
  EXPECT_EQ(recorded.size(), plan.events.size());
  EXPECT_EQ(awaited.size(), plan.events.size());
}

TEST(Streams, CopiesRunBesideKernels) {
  Workbench bench("/cpu:0", "/gpu:0", "/gpu:1", 2);
  const Plan plan = bench.CompileOnce();
  for (const Partition& p : plan.partitions) {
    const bool is_host = *p.device.type == "CPU";
    for (const Step& step : p.steps) {
      const StreamSpec& stream = p.streams[static_cast<size_t>(step.stream)];
      if (step.send_channel < 0) {
        EXPECT_EQ(stream.kind, StreamKind::kCompute) << step.name;
        continue;
      }
      const Partition& to =
          plan.partitions[static_cast<size_t>(plan.channels[static_cast<size_t>(step.send_channel)].to)];
      const bool to_host = *to.device.type == "CPU";
      EXPECT_EQ(stream.kind, is_host   ? StreamKind::kCopyIn
                             : to_host ? StreamKind::kCopyOut
                                       : StreamKind::kExchange)
          << step.name;
      EXPECT_EQ(stream.device_index, is_host ? to.device_index : p.device_index);
    }
  }
}

TEST(Streams, KernelsDoNotOverwriteWhatIsJustBeingCopied) {
  Workbench bench("/cpu:0", "/gpu:0", "/gpu:1", 2);
  const Plan plan = bench.CompileOnce();
  for (const Partition& p : plan.partitions) {
    if (*p.device.type != "GPU") continue;
    for (const Step& step : p.steps)  // so a kernel waits for what arrives only, never for a copy of its own device
      for (int event : step.waits)
        if (step.send_channel < 0) {
          EXPECT_NE(plan.partitions[static_cast<size_t>(plan.events[static_cast<size_t>(event)].partition)].device,
                    p.device)
              << step.name;
        }
  }
}

TEST(Streams, APlanOfOneDeviceHasNone) {
  Workbench bench("/gpu:0", "/gpu:0", "/gpu:0", 1);
  const Plan plan = bench.CompileOnce();
  ASSERT_EQ(plan.partitions.size(), 1u);
  EXPECT_EQ(plan.partitions[0].streams.size(), 1u);
  EXPECT_TRUE(plan.events.empty());
}

TEST(Streams, GradientsThatArriveLieBesideTheOthers) {
  Workbench bench("/cpu:0", "/gpu:0", "/gpu:1", 2);
  const Plan plan = bench.CompileOnce();
  int updates = 0;
  for (const Partition& p : plan.partitions)
    for (const Step& step : p.steps) {
      if (step.kind != OpKind::kApplyGradientDescent) continue;
      ++updates;
      EXPECT_EQ(step.inputs[2].region, Region::kGradient) << step.name;
    }
  EXPECT_GE(updates, 2);
}

}  // namespace muster
