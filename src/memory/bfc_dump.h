#pragma once

#include <string>

#include "core/device.h"
#include "memory/bfc_bins.h"
#include "memory/bfc_chunk.h"
#include "memory/bfc_regions.h"

namespace muster::bfc {

// An allocator's structure, borrowed while its mutex is held.
struct View {
  const ChunkTable& chunks;
  const Bins& bins;
  const Regions& regions;
  const AllocatorStats& stats;
  const std::string& name;

  // Calls visit(chunk) for every chunk of a region in address order.
  template <typename Visit>
  void ForEachChunk(const Region& region, Visit visit) const {
    for (Handle handle = region.Get(region.data()); handle != kNoChunk; handle = chunks[handle].next)
      visit(chunks[handle]);
  }
};

// The report for people. Bins (chunks, chunks in use, bytes, bytes in use, bytes that callers asked for); for a failed
// request of "wanted" bytes (0: none), the free chunks of its bin; every chunk of every region; how many chunks of each
// size are in use; totals and statistics; the occupancy.
std::string Dump(const View& view, size_t wanted);

// All regions side by side in 100 characters of equal width: '*' where any byte is in use, else 'x' where any is slack
// (taken, but not asked for), else '_'.
std::string Occupancy(const View& view);

// Throws Internal naming the first contradiction in the structure.
void CheckConsistency(const View& view);

}  // namespace muster::bfc
