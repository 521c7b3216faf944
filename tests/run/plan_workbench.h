#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compile/pipeline.h"
#include "muster/error.h"
#include "run/executor.h"
#include "session/local_devices.h"

namespace muster::testing {

// A session taken apart, so that a plan can be damaged before it runs. The graph must outlive it; variables begin as
// zeros.
class PlanWorkbench {
 public:
  PlanWorkbench(const Graph& graph, std::vector<Output> fetches, std::vector<NodeId> targets,
                const SessionOptions& devices)
      : local_(MakeLocalDevices(devices)), memory_(Pointers()) {
    request_.graph = &graph;
    request_.fetches = std::move(fetches);
    request_.targets = std::move(targets);
    for (const LocalDevice& d : local_)
      request_.devices.push_back({d.device->name(), d.kernels, d.caps, d.device->is_asynchronous()});
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

  std::vector<LocalDevice> local_;
  VariableTable table_;
  VariableMemory memory_;
  CompileRequest request_;
};

// Leaves out the wait number "index" of the plan, if there are so many.
inline bool RemoveWait(Plan& plan, int index) {
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

// Takes each wait out of a new workbench's plan in turn: the hazard checker of the devices must notice. Returns how
// many there are.
template <typename MakeWorkbench>
int ExpectEveryWaitIsNeeded(const MakeWorkbench& make) {
  int index = 0;
  for (;; ++index) {
    auto bench = make();
    Plan plan = bench->CompileOnce();
    if (!RemoveWait(plan, index)) break;
    try {
      bench->Run(std::move(plan));
      ADD_FAILURE() << "wait " << index << " can be left out";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("a wait is missing"), std::string::npos) << error.what();
    }
  }
  return index;
}

}  // namespace muster::testing
