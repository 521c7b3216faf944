#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device.h"
#include "plan/plan.h"
#include "run/bound_plan.h"
#include "run/drivers.h"
#include "run/plan_timeline.h"
#include "run/update_gate.h"
#include "run/variable_memory.h"

namespace muster {

// One instance of a plan with its memory, which it replays. A plan of one partition is driven by the caller's thread;
// otherwise each partition has a driver thread. Run is not thread-safe. The replay loop itself neither allocates nor
// locks; streams of devices may.
class Executor {
 public:
  // "adopt_thread", unless empty, is called with a device's index by each driver thread before it drives that device.
  Executor(Plan plan, std::vector<Device*> devices, const VariableTable& variables, const VariableMemory& memory,
           std::function<void(int)> adopt_thread = {});
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Replays the plan once as step number "step"; all devices are idle when it returns or throws. Feeds must have the
  // plan's descriptions. What a step throws names the node, its device and the step number; the first error wins.
  void Run(int64_t step, const std::vector<Tensor>& feeds);
  // Run with a stamp before and after every step.
  Timeline RunTraced(int64_t step, const std::vector<Tensor>& feeds);
  // Run of a plan of one partition without feeds, adding each step's seconds to "seconds" (one entry per step).
  void RunTimed(int64_t step, std::vector<double>* seconds);
  // Copies of the fetched values of the last Run, row-major.
  std::vector<Tensor> Fetch() const;

  // Ends later replays before the first update from a gradient on any device if this fetch's value is not finite: right
  // behind the step that computes it, on its device. Throws InvalidArgument unless it is a float32 or float64 scalar
  // that no device computes from what such an update makes.
  void StopUnlessFinite(int fetch);

  // An interrupt ends later replays before their first update, or not at all.
  void FinishSteps() { finishes_steps_ = true; }

  const Plan& plan() const { return plan_; }
  const StepTimes& times() const { return times_; }

 private:
  void CopyFeeds(const std::vector<Tensor>& feeds);
  void Replay(size_t partition);
  void Enqueue(BoundStep& step, size_t partition);
  void Launch(BoundStep& step, size_t partition);
  bool IsGuardFinite() const;
  void MarkUpdates();
  bool ComesBefore(std::pair<size_t, size_t> step, const std::vector<size_t>& stop) const;
  // Ends the replay on all devices if there was an interrupt and nobody has begun to update.
  void CancelIfInterrupted();
  // Ends the replay on all devices.
  void Stop();
  // Replay whose failure closes the channels.
  void Drive(size_t partition);
  void AddTimes();
  void Fail(std::exception_ptr error);

  Plan plan_;
  BoundPlan bound_;
  StepTimes times_;
  UpdateGate gate_;
  int guard_ = -1;  // fetch that must be finite
  bool has_guarded_step_ = false;
  size_t num_meeting_ = 1;  // devices that begin to update together, with FinishSteps
  const std::function<void()> poll_;
  int64_t step_ = 0;
  bool is_traced_ = false;
  bool finishes_steps_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;          // the first of this replay, guarded by mutex_
  bool is_stopped_ = false;           // by the guard, guarded by mutex_
  std::unique_ptr<Drivers> drivers_;  // after everything that they use
};

}  // namespace muster
