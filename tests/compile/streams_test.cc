// Waits between streams: as few as are needed, and none that could be left out.

#include <set>

#include <gtest/gtest.h>

#include "compile/pipeline.h"
#include "muster/error.h"
#include "run/executor.h"
#include "session/local_devices.h"
#include "tests/run/two_towers.h"

namespace muster {
namespace {

using testing::CheckedGpus;
using testing::TwoTowers;

// A session taken apart, so that a plan can be damaged before it runs.
class Workbench {
 public:
  // Devices of the home and of the two towers.
  Workbench(const char* home, const char* first, const char* second, int gpus)
      : towers_(home, first, second), local_(MakeLocalDevices(CheckedGpus(gpus))), memory_(Pointers()) {
    request_.graph = &towers_.graph();
    request_.fetches = {towers_.loss()};
    request_.targets = {towers_.train()};
    for (const LocalDevice& d : local_) request_.devices.push_back({d.device->name(), d.kernels, d.caps, d.device->is_asynchronous()});
    request_.variables = &table_;
  }

  Plan CompileOnce() { return Compile(request_); }
  void Run(Plan plan) {
    memory_.Ensure(table_);
    Executor executor(std::move(plan), Pointers(), table_, memory_);
    executor.Run(0, {});
    executor.Run(1, {});
  }

 private:
  std::vector<Device*> Pointers() const {
    std::vector<Device*> pointers;
    for (const LocalDevice& d : local_) pointers.push_back(d.device.get());
    return pointers;
  }

  const TwoTowers towers_;
  std::vector<LocalDevice> local_;
  VariableTable table_;
  VariableMemory memory_;
  CompileRequest request_;
};

// Leaves out the wait number "index" of the plan, if there are so many.
bool RemoveWait(Plan& plan, int index) {
  for (Partition& p : plan.partitions)
    for (Step& step : p.steps) {
      if (index < static_cast<int>(step.waits.size())) {
        step.waits.erase(step.waits.begin() + index);
        return true;
      }
      index -= static_cast<int>(step.waits.size());
    }
  return false;
}

void ExpectEveryWaitIsNeeded(const char* home, const char* first, const char* second) {
  int index = 0;
  for (;; ++index) {
    Workbench bench(home, first, second, 2);
    Plan plan = bench.CompileOnce();
    if (!RemoveWait(plan, index)) break;
    try {
      bench.Run(std::move(plan));
      ADD_FAILURE() << "wait " << index << " can be left out";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("a wait is missing"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(index, 4);
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
      const Partition& to = plan.partitions[static_cast<size_t>(plan.channels[static_cast<size_t>(step.send_channel)].to)];
      const bool to_host = *to.device.type == "CPU";
      EXPECT_EQ(stream.kind, is_host ? StreamKind::kCopyIn : to_host ? StreamKind::kCopyOut : StreamKind::kExchange) << step.name;
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
          EXPECT_NE(plan.partitions[static_cast<size_t>(plan.events[static_cast<size_t>(event)].partition)].device, p.device) << step.name;
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
