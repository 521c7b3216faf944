#include "memory/host_allocator.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/system_memory.h"

namespace muster {

HostAllocator::HostAllocator(std::string name, size_t memory_limit) : name_(std::move(name)) {
  MutexLock lock(mutex_);
  stats_.bytes_limit = static_cast<int64_t>(memory_limit);
}

HostAllocator::~HostAllocator() {
  MutexLock lock(mutex_);
  MUSTER_CHECK(live_.empty());
}

HostAllocator& HostAllocator::Process() {
  static HostAllocator& allocator = *new HostAllocator("cpu", static_cast<size_t>(ReadSystemMemory().limit()));
  return allocator;
}

void* HostAllocator::Allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  constexpr size_t kLargest = size_t{1} << 60;
  const size_t rounded = static_cast<size_t>(RoundUp(static_cast<int64_t>(std::min(bytes, kLargest)), kAlignment));
  Reserve(rounded);
  void* data = rounded >= kMappedFrom ? memory_.Alloc(rounded) : std::aligned_alloc(kAlignment, rounded);
  if (data == nullptr) {
    Unreserve(rounded);
    throw Refusal(bytes, Stats());
  }
  MutexLock lock(mutex_);
  live_.emplace(data, rounded);
  ++stats_.allocations;
  stats_.peak_bytes_in_use = std::max(stats_.peak_bytes_in_use, stats_.bytes_in_use);
  stats_.largest_allocation = std::max(stats_.largest_allocation, static_cast<int64_t>(rounded));
  return data;
}

void HostAllocator::Free(void* data) {
  if (data == nullptr) return;
  size_t bytes = 0;
  {
    MutexLock lock(mutex_);
    const auto found = live_.find(data);
    MUSTER_CHECK(found != live_.end());  // freed twice, or never ours
    bytes = found->second;
    live_.erase(found);
  }
  if (bytes >= kMappedFrom) {
    memory_.Free(data, bytes);
  } else {
    std::free(data);
  }
  Unreserve(bytes);
}

AllocatorStats HostAllocator::Stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

void HostAllocator::Reserve(size_t bytes) {
  MutexLock lock(mutex_);
  const int64_t wanted = stats_.bytes_in_use + static_cast<int64_t>(bytes);
  if (stats_.bytes_limit != 0 && wanted > stats_.bytes_limit) throw Refusal(bytes, stats_);
  stats_.bytes_in_use = wanted;
  stats_.bytes_reserved = wanted;
}

void HostAllocator::Unreserve(size_t bytes) {
  MutexLock lock(mutex_);
  stats_.bytes_in_use -= static_cast<int64_t>(bytes);
  stats_.bytes_reserved = stats_.bytes_in_use;
}

OutOfMemory HostAllocator::Refusal(size_t bytes, const AllocatorStats& stats) const {
  const std::string limit =
      stats.bytes_limit == 0 ? "; the system has no more" : " of a limit of " + HumanBytes(stats.bytes_limit);
  std::string message =
      fmt::format("{} is out of memory: asked for {} ({} bytes) with {} in use{}", name_,
                  HumanBytes(static_cast<int64_t>(bytes)), bytes, HumanBytes(stats.bytes_in_use), limit);
  std::string dump =
      fmt::format("memory of allocator {}\nin use {}, peak {}, largest allocation {}, {} allocations so far\n", name_,
                  HumanBytes(stats.bytes_in_use), HumanBytes(stats.peak_bytes_in_use),
                  HumanBytes(stats.largest_allocation), stats.allocations);
  return OutOfMemory(std::move(message), std::move(dump));
}

}  // namespace muster
