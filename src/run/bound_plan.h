#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/device.h"
#include "plan/plan.h"
#include "run/channel.h"
#include "run/part_clock.h"
#include "run/variable_memory.h"

namespace muster {

// A step with its addresses, ready to be enqueued: after the events it waits for, and before those that it signals.
struct BoundStep {
  const Step* step = nullptr;
  Kernel* kernel = nullptr;
  LaunchArgs args;  // with the stream that it runs on
  std::span<Event*const> waits, signals;
  Channel* send = nullptr;
  Channel* receive = nullptr;
  void* send_to = nullptr;
  size_t send_bytes = 0;
  bool is_guarded = false;      // the replay ends here if the guard is not finite
  bool awaits_guard = false;    // the first that may only be enqueued if the guard was finite
  bool begins_updates = false;  // the partition's first update

  // For the split of a step's time.
  bool is_on_compute_stream = true;
  bool waits_for_others = false;  // one of the waits is for another device
  StepPart part = StepPart::kCompute;
  // When the work began and ended, in a traced replay.
  double started = 0, ended = 0;
};

// A plan with memory: takes what its partitions need from their devices, and binds every place to an address, every
// stream and event to the device's. Gives everything back when it is destroyed; its streams must be idle then.
class BoundPlan {
 public:
  // The plan must outlive this. Throws OutOfMemory, and then has taken nothing.
  BoundPlan(const Plan& plan, const std::vector<Device*>& devices, const VariableTable& variables,
            const VariableMemory& memory);

  std::vector<BoundStep>& steps(size_t partition) { return partitions_[partition].steps; }
  const std::vector<BoundStep>& steps(size_t partition) const { return partitions_[partition].steps; }
  Device& device(size_t partition) const { return *partitions_[partition].device; }
  PartClock& clock(size_t partition) { return partitions_[partition].clock; }
  void* feed(size_t f) const { return feeds_[f]; }
  void* fetch(size_t f) const { return fetches_[f]; }
  std::vector<std::unique_ptr<Channel>>& channels() { return channels_; }

  // Waits until all streams are idle, and calls "poll" now and then meanwhile. The first stream's error, if any failed.
  std::exception_ptr Synchronize(const std::function<void()>& poll) const;
  // Streams skip what they have not begun, as far as they can (Stream::Abandon).
  void Abandon(std::exception_ptr error) const;
  // Whether work outlives the calls that enqueue it.
  bool is_asynchronous() const { return is_asynchronous_; }

 private:
  struct Partition {
    Partition() = default;
    Partition(Partition&&) = default;
    ~Partition();

    Device* device = nullptr;
    std::vector<BoundStep> steps;
    std::vector<void*> addresses;  // of all steps' inputs and outputs
    std::vector<Event*> events;    // of all steps' waits and signals
    std::vector<void*> blocks;     // everything allocated
    char *arena = nullptr, *gradients = nullptr, *channels = nullptr;
    std::vector<char*> separate;
    std::vector<const void*> constants;
    PartClock clock{0};
  };

  void Allocate(const muster::Partition& partition, Partition* bound);
  static char* AllocateBlock(Partition* bound, int64_t bytes);
  void BindConstants(const muster::Partition& partition, Partition* bound);
  void Bind(size_t p);
  void BindEvents(const muster::Partition& partition, Partition* bound);
  void BindParts(size_t p);
  void* AddressOf(const Place& place, size_t partition) const;
  Stream* StreamOf(const StreamSpec& spec) const;

  const Plan& plan_;
  const std::vector<Device*> devices_;
  const VariableTable& variables_;
  const VariableMemory& memory_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<Partition> partitions_;
  std::vector<void*> feeds_, fetches_;
  std::vector<Stream*> streams_;  // each once
  bool is_asynchronous_ = false;
};

}  // namespace muster
