#pragma once

#include <memory>
#include <string>
#include <vector>

#include "muster/device_info.h"
#include "muster/gpu_options.h"
#include "muster/graph.h"
#include "muster/plan_stats.h"
#include "muster/plan_summary.h"
#include "muster/recompute.h"
#include "muster/soft_placement.h"
#include "muster/timeline.h"

namespace muster {

// Which devices a session has and how it compiles.
struct SessionOptions {
  int num_cpu_devices = 1;
  int num_gpus = -1;            // /device:GPU:0 and on; -1: all that "gpu" describes
  int intra_op_threads = 0;     // per device; 0: all cores
  std::string backend = "cpu";  // "cpu" or "reference" (plain loops, every dtype)
  bool optimize = true;         // false: only the passes that correctness needs
  bool use_arena = true;        // false: each value its own allocation
  bool allow_soft_placement = true;
  bool log_device_placement = false;  // a line on standard error for each operation, once, when it is first placed
  Recompute recompute = Recompute::kNone;
  // bytes that a plan may need on CPU devices and simulated GPUs together, for kFit; 0: no limit
  int64_t host_memory_limit = 0;
  std::string dump_passes_dir;         // write the graph after each pass here; empty: do not
  bool keep_partition_graphs = false;  // for Runner::PartitionGraphs
  GpuOptions gpu = {};
};

using Feeds = std::vector<std::pair<Output, Tensor>>;

// Runs one compiled (feeds, fetches, targets) again and again without look-ups. Not thread-safe; made by
// Session::Prepare and must not outlive its session.
class Runner {
 public:
  virtual ~Runner() = default;
  // Replays the plan: feeds in the order given to Prepare, results in the order of its fetches.
  virtual std::vector<Tensor> Run(const std::vector<Tensor>& feeds = {}) = 0;
  // The same with a stamp before and after every step, which makes it a little slower.
  virtual std::vector<Tensor> RunTraced(const std::vector<Tensor>& feeds, Timeline* timeline) = 0;
  virtual const PlanStats& stats() const = 0;
  // The times of the last Run.
  virtual const StepTimes& times() const = 0;
  // From now on a replay in which the fetched scalar number "fetch" (float32 or float64) is not finite ends before the
  // first update, on all devices; or, if the fetch needs what an update of the same replay makes, before the first
  // update from gradients. Throws InvalidArgument for another fetch, or if it needs what one of those makes.
  virtual void StopUnlessFinite(int fetch) = 0;
  // From now on Ctrl-C (base/interrupt.h) ends a replay before it updates a variable, on all devices, or not at all, so
  // that variables are always those of whole steps: what a run needs that saves them when it is interrupted. Without
  // this it ends a replay at any time, and variables may be half updated.
  virtual void FinishSteps() = 0;
  // The plan as text: each device's steps with offsets, streams and channels.
  virtual std::string PlanText() const = 0;
  // What each device does, and what moves between devices.
  virtual PlanSummary Summary() const = 0;
  // What each device computes after all optimizations, in the order of the devices: a graph whose nodes ask for that
  // device, with "_Send" and "_Recv" where a value crosses to another. Neighbouring updates, which run as one, are
  // still apart. Empty unless the session has keep_partition_graphs.
  virtual std::vector<Graph> PartitionGraphs() const = 0;
};

// Compiles parts of a graph into plans, caches them, and keeps the variables. Thread-safe, except that the graph must
// not change while a call runs. The graph must outlive the session. Calls that compute take numbers too small for the
// normal form as zeros, as TensorFlow does, on the calling thread and its OpenMP team too, and leave both as they were.
// Signals with handlers should be blocked in threads that compute and taken by another one, as base/interrupt.h does:
// on CPUs without AVX-512 oneDNN's kernels use the stack pointer for other things.
class Session {
 public:
  explicit Session(const Graph* graph, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Gives every variable its initial value (tf.global_variables_initializer).
  void Initialize();
  // Runs what the fetches and targets need, and returns the fetched values. Throws InvalidArgument if a fetch depends
  // on a placeholder that is not fed, or a fed tensor has the wrong shape or dtype.
  std::vector<Tensor> Run(const Feeds& feeds, const std::vector<Output>& fetches,
                          const std::vector<NodeId>& targets = {});
  std::unique_ptr<Runner> Prepare(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                  const std::vector<NodeId>& targets = {});

  // A variable's value, row-major, and the reverse (used by checkpoints and tests).
  Tensor ReadVariable(Output ref);
  void WriteVariable(Output ref, const Tensor& value);

  // The next step number: the counter of random streams. It rises by one per Run.
  int64_t step() const;
  void set_step(int64_t step);

  // Name and version of the libraries that the backends stand on: {{"oneDNN", "3.2.0"}}.
  static std::vector<std::pair<std::string, std::string>> Libraries();
  // Compute threads of each GPU, or of each CPU device if there are no GPUs.
  int num_threads() const;

  // The session's devices in the order of its device numbers: CPUs, then GPUs.
  std::vector<DeviceInfo> Devices() const;

  // Where the graph's operations go (docs/placement.md): the placement of the whole graph as it is now, which every
  // plan follows. All three throw if a variable has no device; the last one if any operation has none.
  //
  // "name: (Op): /job:localhost/replica:0/task:0/device:CPU:0" for each node, as TensorFlow logs placements.
  std::vector<std::string> DevicePlacement() const;
  // The operations that soft placement put elsewhere than they asked.
  std::vector<SoftPlacement> SoftPlacements() const;
  // A copy of the graph in which each node asks for the device that it has: for exports.
  Graph PlacedGraph() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster
