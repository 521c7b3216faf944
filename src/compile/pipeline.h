#pragma once

#include <string>
#include <vector>

#include "compile/compile_graph.h"
#include "muster/recompute.h"
#include "plan/plan.h"
#include "plan/variable_table.h"

namespace muster {

// A device that plans may use.
struct CompileDevice {
  DeviceName name;  // full
  const KernelTable* kernels = nullptr;
  DeviceCaps caps;
  bool is_asynchronous = false;  // has streams that run behind its driver's back
  int64_t memory_limit = 0;      // bytes for variables and plan, of a device with a limit of its own; 0: none
  bool uses_host_memory = true;  // counts against the host's limit (too)
};

// What to compile and for which devices.
struct CompileRequest {
  const Graph* graph = nullptr;
  std::vector<Output> feeds, fetches;
  std::vector<NodeId> targets;
  std::vector<CompileDevice> devices;
  VariableTable* variables = nullptr;  // the pipeline may choose layouts of variables that have none chosen yet
  bool optimize = true;
  bool use_arena = true;
  bool allow_soft_placement = true;
  DeviceName own_task;  // what a device without a job means; empty: any task, the first by name (TensorFlow)
  Recompute recompute = Recompute::kNone;
  int64_t host_memory_limit = 0;  // bytes of all devices on the host together; 0: none
  std::string dump_passes_dir;
  bool keep_graphs = false;  // the plan keeps each partition's graph
};

// Runs every pass in order and returns the plan. Throws Error for what the user asked wrongly: unfed placeholders,
// devices that do not exist, operations that no device can run.
Plan Compile(const CompileRequest& request);

}  // namespace muster
