#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/placement.h"
#include "muster/session.h"
#include "run/executor.h"
#include "run/variable_memory.h"

namespace muster {

// A device of this process with the kernels it runs.
struct LocalDevice {
  std::unique_ptr<Device> device;
  const KernelTable* kernels = nullptr;
  DeviceCaps caps;
  std::string description;       // for listings
  int physical_id = -1;          // the card of a GPU
  bool uses_host_memory = true;  // CPUs and simulated GPUs
  // Called by each thread that is going to drive the device: binds it to the device's cores, if it has any of its own.
  std::function<void()> adopt_thread;
};

// What stands behind Session: it knows plans and executors, but no backend; devices are handed in.
class SessionImpl {
 public:
  SessionImpl(const Graph* graph, SessionOptions options, std::vector<LocalDevice> devices);

  void Initialize();
  std::vector<Tensor> Run(const Feeds& feeds, const std::vector<Output>& fetches, const std::vector<NodeId>& targets);
  std::unique_ptr<Runner> Prepare(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                  const std::vector<NodeId>& targets);
  Tensor ReadVariable(Output ref);
  void WriteVariable(Output ref, const Tensor& value);
  int64_t step() const;
  void set_step(int64_t step);
  int num_threads() const { return devices_.back().caps.threads; }
  std::vector<DeviceInfo> Devices() const;
  std::vector<std::string> DevicePlacement();
  std::vector<SoftPlacement> SoftPlacements();
  Graph PlacedGraph();

 private:
  class PlanRunner;
  struct Wanted {
    std::vector<Output> feeds, fetches;
    std::vector<NodeId> targets;
    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };

  CompileRequest RequestFor(const Wanted& wanted);
  std::unique_ptr<Plan> CompilePlanLocked(const Wanted& wanted);
  Placement PlaceLocked();
  void UpdateTableLocked();
  VariableTable::Entry& EntryLocked(Output ref);
  std::vector<Device*> DevicePointers() const;
  void AdoptThread(int device) const;

  const Graph* graph_;
  const SessionOptions options_;
  std::vector<LocalDevice> devices_;

  mutable std::mutex mutex_;  // guards everything below and serialises replays
  VariableTable table_;
  VariableMemory memory_;
  std::map<Wanted, std::unique_ptr<Runner>> cache_;
  int64_t step_ = 0;
  int nodes_seen_ = 0;  // of the graph, by UpdateTableLocked
};

}  // namespace muster
