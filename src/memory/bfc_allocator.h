#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "core/device.h"
#include "memory/bfc_bins.h"
#include "memory/bfc_chunk.h"
#include "memory/bfc_regions.h"
#include "memory/sub_allocator.h"
#include "muster/error.h"

namespace muster {

struct BfcOptions {
  std::string name = "bfc";
  // The most bytes that are taken from the sub-allocator in all; at least 256.
  size_t memory_limit = 0;
  // Take regions as needed, each at least twice as large as the one before, from min(2 MiB, limit) on; otherwise the
  // whole limit is one region, taken by the first allocation.
  bool allow_growth = true;
  // With growth: one region that grows in place, by as much, where the sub-allocator can do that. Then whatever fits
  // one region of the whole limit fits here too; between several regions, ends that are too small for a request are
  // lost to it.
  bool grow_in_place = false;
  // Split a chunk whatever remains, so that bytes in use are the sum of the rounded requests: for few large allocations
  // that must be foretold exactly. TensorFlow's rule below is better against fragmentation by many small ones.
  bool split_exactly = false;
  // When nothing fits, give regions that are wholly free back to the sub-allocator and take a fitting one instead.
  bool release_free_regions = false;
  // How long Allocate waits for other threads to free memory before it gives up. Zero, as on the CPU: not at all.
  std::chrono::milliseconds retry_wait{0};
};

// What AllocatorStats does not say.
struct BfcStats {
  int64_t requested_bytes_in_use = 0;  // what callers asked for
  int64_t slack_bytes = 0;             // rounding and unsplit tails: bytes in use less requested
  int64_t free_bytes = 0;              // in regions
  int64_t largest_free = 0;
  int64_t regions = 0;
  // (free - largest free) / free: 0 when all free bytes are in one piece.
  double fragmentation = 0;
};

// Best fit with coalescing, behaving as TensorFlow's BFC allocator does: sizes rounded up to 256 bytes; the smallest
// free chunk that fits is taken and split if it is at least twice as large as needed or leaves 128 MiB or more; a freed
// chunk merges with its free neighbours (split_exactly: it is always split). Addresses are multiples of 256 if the
// sub-allocator's are.
//
// Owns its regions and gives them back when it is destroyed; nothing may be in use then. Thread-safe, one mutex.
class BfcAllocator final : public Allocator {
 public:
  // Throws InvalidArgument if the limit is below 256 bytes.
  BfcAllocator(std::unique_ptr<SubAllocator> source, BfcOptions options);
  ~BfcAllocator() override;

  const std::string& name() const override { return options_.name; }
  // Throws OutOfMemory: one line that says what was asked, in use and allowed, with Dump()'s text attached.
  void* Allocate(size_t bytes) override MUSTER_EXCLUDES(mutex_);
  // nullptr in place of an exception, and never waits: for memory that helps but is not needed, such as a workspace.
  void* TryAllocate(size_t bytes) MUSTER_EXCLUDES(mutex_);
  void Free(void* data) override MUSTER_EXCLUDES(mutex_);

  AllocatorStats Stats() const override MUSTER_EXCLUDES(mutex_);
  BfcStats DetailedStats() const MUSTER_EXCLUDES(mutex_);
  // Starts peak_bytes_in_use again from what is in use now.
  void ResetPeak() MUSTER_EXCLUDES(mutex_);

  // Of a live allocation: what was asked, what it takes, and its number (from 1).
  size_t RequestedBytes(const void* data) const MUSTER_EXCLUDES(mutex_);
  size_t AllocatedBytes(const void* data) const MUSTER_EXCLUDES(mutex_);
  int64_t AllocationId(const void* data) const MUSTER_EXCLUDES(mutex_);

  // Several lines for people: bins, every chunk of every region, totals by size, and a picture of the occupancy.
  // "wanted" is the request that failed, 0 if none did.
  std::string Dump(size_t wanted = 0) const MUSTER_EXCLUDES(mutex_);

  // Throws Internal if the structure contradicts itself (chunks that do not tile their region, free neighbours, a bin
  // with a wrong chunk, totals that do not add up). For tests.
  void CheckConsistency() const MUSTER_EXCLUDES(mutex_);

 private:
  void* AllocateLocked(size_t bytes) MUSTER_REQUIRES(mutex_);
  // Waits for Free until the deadline, trying again after each.
  void* RetryUntilDeadline(size_t bytes) MUSTER_REQUIRES(mutex_);
  void* TakeBestFit(size_t rounded, size_t requested) MUSTER_REQUIRES(mutex_);
  void Split(bfc::Handle handle, size_t size) MUSTER_REQUIRES(mutex_);

  // Adds a region that can hold "rounded" bytes; false if limit or source forbid.
  bool Extend(size_t rounded) MUSTER_REQUIRES(mutex_);
  bool ExtendInPlace(size_t rounded) MUSTER_REQUIRES(mutex_);
  // The first region that is to grow in place, still without bytes; false if the source has none.
  bool ReserveRegion() MUSTER_REQUIRES(mutex_);
  bfc::Handle LastChunkOf(const bfc::Region& region) const MUSTER_REQUIRES(mutex_);
  char* TakeFromSource(size_t wanted, size_t least, size_t* taken) MUSTER_REQUIRES(mutex_);
  bool ReleaseFreeRegions(size_t rounded) MUSTER_REQUIRES(mutex_);

  bfc::Handle MergeWithNeighbours(bfc::Handle handle) MUSTER_REQUIRES(mutex_);
  // Joins the free chunk "next" to the one before it.
  void Merge(bfc::Handle handle, bfc::Handle next) MUSTER_REQUIRES(mutex_);

  bfc::Handle HandleOf(const void* data) const MUSTER_REQUIRES(mutex_);
  BfcStats DetailedStatsLocked() const MUSTER_REQUIRES(mutex_);
  OutOfMemory OutOfMemoryError(size_t bytes) const MUSTER_REQUIRES(mutex_);
  std::string DumpLocked(size_t wanted) const MUSTER_REQUIRES(mutex_);

  const std::unique_ptr<SubAllocator> source_;
  const BfcOptions options_;

  mutable Mutex mutex_;
  CondVar freed_;
  bfc::ChunkTable chunks_ MUSTER_GUARDED_BY(mutex_);
  bfc::Bins bins_ MUSTER_GUARDED_BY(mutex_);
  bfc::Regions regions_ MUSTER_GUARDED_BY(mutex_);
  size_t next_region_size_ MUSTER_GUARDED_BY(mutex_);
  bool grows_in_place_ MUSTER_GUARDED_BY(mutex_) = false;  // the source could reserve
  bool has_backed_off_ MUSTER_GUARDED_BY(mutex_) = false;
  int64_t next_allocation_id_ MUSTER_GUARDED_BY(mutex_) = 1;
  int64_t requested_in_use_ MUSTER_GUARDED_BY(mutex_) = 0;
  AllocatorStats stats_ MUSTER_GUARDED_BY(mutex_);
};

}  // namespace muster
