#include "memory/bfc_allocator.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "memory/bfc_dump.h"

namespace muster {
namespace {

constexpr size_t kFirstRegion = size_t{2} << 20;
// A remainder of this size is worth a chunk of its own even if the chunk was less than twice too large.
constexpr size_t kLargestRemainder = size_t{128} << 20;

}  // namespace

BfcAllocator::BfcAllocator(std::unique_ptr<SubAllocator> source, BfcOptions options)
    : source_(std::move(source)),
      options_(std::move(options)),
      next_region_size_(options_.allow_growth ? std::min(kFirstRegion, options_.memory_limit) : options_.memory_limit) {
  if (options_.memory_limit < bfc::kUnit)
    throw InvalidArgument(
        fmt::format("allocator {}: a memory limit of {} bytes is below the smallest possible, {} bytes", options_.name,
                    options_.memory_limit, bfc::kUnit));
  MutexLock lock(mutex_);
  stats_.bytes_limit = static_cast<int64_t>(options_.memory_limit);
}

BfcAllocator::~BfcAllocator() {
  MutexLock lock(mutex_);
  for (const bfc::Region& region : regions_.list()) source_->Free(region.data(), region.capacity());
}

void* BfcAllocator::Allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  MutexLock lock(mutex_);
  void* data = AllocateLocked(bytes);
  if (data == nullptr) data = RetryUntilDeadline(bytes);
  if (data == nullptr) throw OutOfMemoryError(bytes);
  return data;
}

void* BfcAllocator::TryAllocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  MutexLock lock(mutex_);
  return AllocateLocked(bytes);
}

void* BfcAllocator::AllocateLocked(size_t bytes) {
  if (bytes > options_.memory_limit) return nullptr;  // also keeps the rounding from wrapping
  const size_t rounded = bfc::RoundedBytes(bytes);
  if (void* data = TakeBestFit(rounded, bytes)) return data;
  if (Extend(rounded)) return TakeBestFit(rounded, bytes);
  if (options_.release_free_regions && ReleaseFreeRegions(rounded) && Extend(rounded))
    return TakeBestFit(rounded, bytes);
  return nullptr;
}

void* BfcAllocator::RetryUntilDeadline(size_t bytes) {
  if (options_.retry_wait.count() <= 0 || bytes > options_.memory_limit) return nullptr;
  const auto deadline = std::chrono::steady_clock::now() + options_.retry_wait;
  while (freed_.WaitUntil(mutex_, deadline))
    if (void* data = AllocateLocked(bytes)) return data;
  return AllocateLocked(bytes);
}

void* BfcAllocator::TakeBestFit(size_t rounded, size_t requested) {
  const bfc::Handle handle = bins_.FindBestFit(rounded);
  if (handle == bfc::kNoChunk) return nullptr;
  bins_.Remove(chunks_[handle], handle);
  const size_t size = chunks_[handle].size;
  const bool is_exact = options_.split_exactly && size > rounded;
  if (is_exact || size >= 2 * rounded || size - rounded >= kLargestRemainder) Split(handle, rounded);

  bfc::Chunk& chunk = chunks_[handle];
  chunk.requested = requested;
  chunk.allocation_id = next_allocation_id_++;
  requested_in_use_ += static_cast<int64_t>(requested);
  ++stats_.allocations;
  stats_.bytes_in_use += static_cast<int64_t>(chunk.size);
  stats_.peak_bytes_in_use = std::max(stats_.peak_bytes_in_use, stats_.bytes_in_use);
  stats_.largest_allocation = std::max(stats_.largest_allocation, static_cast<int64_t>(chunk.size));
  return chunk.data;
}

void BfcAllocator::Split(bfc::Handle handle, size_t size) {
  const bfc::Handle tail_handle = chunks_.New();
  bfc::Chunk& chunk = chunks_[handle];
  bfc::Chunk& tail = chunks_[tail_handle];
  tail.data = chunk.data + size;
  tail.size = chunk.size - size;
  tail.previous = handle;
  tail.next = chunk.next;
  if (tail.next != bfc::kNoChunk) chunks_[tail.next].previous = tail_handle;
  chunk.size = size;
  chunk.next = tail_handle;
  regions_.Find(tail.data)->Set(tail.data, tail_handle);
  bins_.Insert(tail, tail_handle);
}

void BfcAllocator::Free(void* data) {
  if (data == nullptr) return;
  {
    MutexLock lock(mutex_);
    const bfc::Handle handle = HandleOf(data);
    bfc::Chunk& chunk = chunks_[handle];
    stats_.bytes_in_use -= static_cast<int64_t>(chunk.size);
    requested_in_use_ -= static_cast<int64_t>(chunk.requested);
    chunk.allocation_id = bfc::Chunk::kFree;
    chunk.requested = 0;
    const bfc::Handle merged = MergeWithNeighbours(handle);
    bins_.Insert(chunks_[merged], merged);
  }
  freed_.NotifyAll();
}

bfc::Handle BfcAllocator::MergeWithNeighbours(bfc::Handle handle) {
  const bfc::Handle next = chunks_[handle].next;
  if (next != bfc::kNoChunk && !chunks_[next].in_use()) {
    bins_.Remove(chunks_[next], next);
    Merge(handle, next);
  }
  const bfc::Handle previous = chunks_[handle].previous;
  if (previous == bfc::kNoChunk || chunks_[previous].in_use()) return handle;
  bins_.Remove(chunks_[previous], previous);
  Merge(previous, handle);
  return previous;
}

void BfcAllocator::Merge(bfc::Handle handle, bfc::Handle next) {
  bfc::Chunk& first = chunks_[handle];
  const bfc::Chunk& second = chunks_[next];
  first.size += second.size;
  first.next = second.next;
  if (first.next != bfc::kNoChunk) chunks_[first.next].previous = handle;
  regions_.Find(second.data)->Erase(second.data);
  chunks_.Delete(next);
}

bfc::Handle BfcAllocator::HandleOf(const void* data) const {
  const bfc::Region* region = regions_.Find(static_cast<const char*>(data));
  MUSTER_CHECK(region != nullptr);
  const bfc::Handle handle = region->Get(static_cast<const char*>(data));
  // Not the start of a live allocation: freed twice, or never ours.
  MUSTER_CHECK(handle != bfc::kNoChunk && chunks_[handle].data == data && chunks_[handle].in_use());
  return handle;
}

AllocatorStats BfcAllocator::Stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

BfcStats BfcAllocator::DetailedStats() const {
  MutexLock lock(mutex_);
  return DetailedStatsLocked();
}

BfcStats BfcAllocator::DetailedStatsLocked() const {
  BfcStats stats;
  stats.requested_bytes_in_use = requested_in_use_;
  stats.slack_bytes = stats_.bytes_in_use - requested_in_use_;
  stats.free_bytes = static_cast<int64_t>(regions_.total_bytes()) - stats_.bytes_in_use;
  stats.largest_free = static_cast<int64_t>(bins_.LargestFree());
  stats.regions = static_cast<int64_t>(regions_.list().size());
  if (stats.free_bytes > 0)
    stats.fragmentation =
        static_cast<double>(stats.free_bytes - stats.largest_free) / static_cast<double>(stats.free_bytes);
  return stats;
}

void BfcAllocator::ResetPeak() {
  MutexLock lock(mutex_);
  stats_.peak_bytes_in_use = stats_.bytes_in_use;
}

size_t BfcAllocator::RequestedBytes(const void* data) const {
  MutexLock lock(mutex_);
  return chunks_[HandleOf(data)].requested;
}

size_t BfcAllocator::AllocatedBytes(const void* data) const {
  MutexLock lock(mutex_);
  return chunks_[HandleOf(data)].size;
}

int64_t BfcAllocator::AllocationId(const void* data) const {
  MutexLock lock(mutex_);
  return chunks_[HandleOf(data)].allocation_id;
}

OutOfMemory BfcAllocator::OutOfMemoryError(size_t bytes) const {
  const BfcStats stats = DetailedStatsLocked();
  std::string message = fmt::format("{} is out of memory: asked for {} ({} bytes) with {} in use of a limit of {}",
                                    options_.name, HumanBytes(static_cast<int64_t>(bytes)), bytes,
                                    HumanBytes(stats_.bytes_in_use), HumanBytes(stats_.bytes_limit));
  // Enough is free, but not in one piece.
  if (stats.free_bytes >= static_cast<int64_t>(bytes))
    message += fmt::format("; {} are free, the largest piece is {}", HumanBytes(stats.free_bytes),
                           HumanBytes(stats.largest_free));
  return OutOfMemory(std::move(message), DumpLocked(bytes));
}

std::string BfcAllocator::Dump(size_t wanted) const {
  MutexLock lock(mutex_);
  return DumpLocked(wanted);
}

std::string BfcAllocator::DumpLocked(size_t wanted) const {
  return bfc::Dump({chunks_, bins_, regions_, stats_, options_.name}, wanted);
}

void BfcAllocator::CheckConsistency() const {
  MutexLock lock(mutex_);
  bfc::CheckConsistency({chunks_, bins_, regions_, stats_, options_.name});
}

}  // namespace muster
