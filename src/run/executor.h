#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/device.h"
#include "plan/plan.h"
#include "run/channel.h"
#include "run/variable_memory.h"

namespace muster {

// One instance of a plan with its memory: binds every place to an address once, then replays. A plan of one partition
// runs on the caller's thread; otherwise each partition has a driver thread. Run is not thread-safe. The replay loop
// neither allocates nor locks.
class Executor {
 public:
  Executor(Plan plan, std::vector<Device*> devices, const VariableTable& variables, const VariableMemory& memory);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Replays the plan once as step number "step". Feeds must have the plan's descriptions.
  void Run(int64_t step, const std::vector<Tensor>& feeds);
  // Run of a plan of one partition without feeds, adding each step's seconds to "seconds" (one entry per step).
  void RunTimed(int64_t step, std::vector<double>* seconds);
  // Copies of the fetched values of the last Run, row-major.
  std::vector<Tensor> Fetch() const;

  // Ends later replays right behind the step that computes this fetch if its value is not finite. Throws InvalidArgument unless
  // it is a float32 or float64 scalar and the plan has one partition.
  void StopUnlessFinite(int fetch);

  const Plan& plan() const { return plan_; }
  const StepTimes& times() const { return times_; }

 private:
  // A step with its addresses.
  struct BoundStep {
    Kernel* kernel = nullptr;
    LaunchArgs args;
    int phase = 0;
    Channel* send = nullptr;
    Channel* receive = nullptr;
    bool is_guarded = false;   // the replay ends here if the guard is not finite
    size_t first_address = 0;  // of its inputs, then outputs, in addresses
  };
  struct BoundPartition {
    BoundPartition() = default;
    BoundPartition(BoundPartition&&) = default;
    ~BoundPartition();

    std::vector<BoundStep> steps;
    std::vector<void*> addresses;
    std::vector<void*> blocks;  // everything allocated; freed by the destructor
    Device* device = nullptr;
    char* arena = nullptr;
    char* gradients = nullptr;
    std::vector<char*> separate;
    std::unique_ptr<Stream> stream;
  };

  void Allocate(const Partition& partition, BoundPartition* bound);
  char* AllocateBlock(BoundPartition* bound, int64_t bytes, bool clear);
  void Bind(const Partition& partition, const VariableTable& variables, const VariableMemory& memory, BoundPartition* bound);
  void* AddressOf(const Place& place, const Partition& partition, const BoundPartition& bound, const VariableTable& variables,
                  const VariableMemory& memory) const;
  void Replay(BoundPartition& bound, int64_t step, StepTimes* times);
  void StartDrivers();
  void StopDrivers();
  void RunOnDrivers(int64_t step);
  void DriverLoop(size_t partition);

  Plan plan_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<BoundPartition> partitions_;
  std::vector<void*> feed_addresses_;
  std::vector<void*> fetch_addresses_;
  StepTimes times_;
  const void* guard_ = nullptr;
  DType guard_dtype_ = DType::kFloat32;

  // Drivers: threads wait for round_ to rise, and count themselves into finished_.
  std::vector<std::thread> drivers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t round_ = 0, step_ = 0;
  size_t finished_ = 0;
  bool is_stopping_ = false;
  std::exception_ptr error_;
};

}  // namespace muster
