#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "core/device.h"
#include "memory/host_memory.h"
#include "muster/error.h"

namespace muster {

// Plain host memory for arenas, variables and tensors of the CPU device: one mapping (HostMemory, huge pages for 2 MiB
// and more) for each allocation of at least 64 KiB, the C library's heap for smaller ones. Contents are not cleared.
// Addresses are 64-byte aligned, those of mappings page aligned. Freed memory of a mapping goes back to the system at
// once, so that resident size follows what is in use. Thread-safe.
class HostAllocator final : public Allocator {
 public:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kMappedFrom = size_t{64} << 10;

  // "memory_limit" in bytes, 0 for none: Allocate throws OutOfMemory beyond it in place of letting the kernel kill us.
  explicit HostAllocator(std::string name = "cpu", size_t memory_limit = 0);
  ~HostAllocator() override;

  const std::string& name() const override { return name_; }
  void* Allocate(size_t bytes) override;
  void Free(void* data) override;
  AllocatorStats Stats() const override;

  // The one that CPU devices of this process share. Limited to what the machine and the control group have. Lives until
  // the process ends, so that tensors in static variables may outlast main.
  static HostAllocator& Process();

 private:
  // Counts "bytes" in, or throws if they are over the limit.
  void Reserve(size_t bytes);
  void Unreserve(size_t bytes);
  OutOfMemory Refusal(size_t bytes, const AllocatorStats& stats) const;

  const std::string name_;
  HostMemory memory_;
  mutable Mutex mutex_;
  AllocatorStats stats_ MUSTER_GUARDED_BY(mutex_);
  std::unordered_map<void*, size_t> live_ MUSTER_GUARDED_BY(mutex_);  // rounded sizes
};

}  // namespace muster
