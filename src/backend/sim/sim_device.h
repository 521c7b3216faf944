#pragma once

#include <array>
#include <memory>

#include "backend/sim/sim_stream.h"
#include "core/device.h"

namespace muster {

// A GPU that computes with the CPU's kernels: its memory is a part of the host's, handed out by a BFC allocator with a
// strict limit, and its streams are threads. Everything else sees a GPU: work is only enqueued, and must be waited for.
class SimGpu final : public Device {
 public:
  // "memory_limit" in bytes. Throws InvalidArgument if it is below the allocator's smallest.
  SimGpu(DeviceName name, int64_t memory_limit, bool allow_growth, const SimSettings& settings);
  ~SimGpu() override;

  const DeviceName& name() const override { return name_; }
  Allocator* allocator() override { return allocator_.get(); }
  Stream* stream(StreamKind kind) override { return streams_[static_cast<size_t>(kind)].get(); }
  std::unique_ptr<Event> CreateEvent() override { return std::make_unique<SimEvent>(); }
  bool is_asynchronous() const override { return true; }

 private:
  const DeviceName name_;
  std::unique_ptr<Allocator> allocator_;
  std::array<std::unique_ptr<SimStream>, kNumStreamKinds> streams_;
};

// A CPU beside simulated GPUs whose work is checked for hazards as theirs is. Runs the kernels of SimTable.
class CheckedCpu final : public Device {
 public:
  // The allocator must outlive the device.
  CheckedCpu(DeviceName name, Allocator* allocator, const SimSettings& settings);

  const DeviceName& name() const override { return name_; }
  Allocator* allocator() override { return allocator_; }
  Stream* stream(StreamKind) override { return &stream_; }
  std::unique_ptr<Event> CreateEvent() override { return std::make_unique<SimEvent>(); }
  bool is_asynchronous() const override { return false; }

 private:
  const DeviceName name_;
  Allocator* const allocator_;
  CheckedInlineStream stream_;
};

}  // namespace muster
