#include <fmt/format.h>

#include "memory/bfc_dump.h"
#include "muster/error.h"

namespace muster::bfc {
namespace {

void Require(bool condition, const char* rule, const void* where) {
  if (!condition) throw Internal(fmt::format("BFC allocator: {} does not hold at {}", rule, fmt::ptr(where)));
}

size_t CheckBins(const View& view) {
  size_t count = 0;
  for (int index = 0; index < Bins::kCount; ++index) {
    for (const Bins::Entry& entry : view.bins[index]) {
      const Chunk& chunk = view.chunks[entry.handle];
      Require(!chunk.in_use(), "bins hold free chunks only", entry.data);
      Require(chunk.data == entry.data && chunk.size == entry.size, "a bin entry agrees with its chunk", entry.data);
      Require(Bins::IndexOf(chunk.size) == index, "a chunk is in the bin of its size", entry.data);
      ++count;
    }
  }
  return count;
}

struct Totals {
  size_t in_use = 0;
  size_t free_chunks = 0;
};

void CheckRegion(const View& view, const Region& region, Totals* totals) {
  const char* expected = region.data();
  Handle previous = kNoChunk;
  bool previous_free = false;
  for (Handle handle = region.Get(region.data()); handle != kNoChunk; handle = view.chunks[handle].next) {
    const Chunk& chunk = view.chunks[handle];
    Require(chunk.data == expected, "chunks tile their region", chunk.data);
    Require(region.Get(chunk.data) == handle, "an address leads to its chunk", chunk.data);
    Require(chunk.previous == previous, "previous and next agree", chunk.data);
    Require(chunk.size >= kUnit && chunk.size % kUnit == 0, "sizes are multiples of 256", chunk.data);
    Require(chunk.requested <= chunk.size, "a chunk holds what was asked for", chunk.data);
    Require(chunk.in_use() || !previous_free, "no two free chunks are neighbours", chunk.data);
    if (chunk.in_use()) {
      totals->in_use += chunk.size;
    } else {
      ++totals->free_chunks;
    }
    previous_free = !chunk.in_use();
    previous = handle;
    expected += chunk.size;
  }
  Require(expected == region.end(), "chunks tile their region to its end", expected);
}

}  // namespace

void CheckConsistency(const View& view) {
  Totals totals;
  size_t bytes = 0;
  for (const Region& region : view.regions.list()) {
    CheckRegion(view, region, &totals);
    bytes += region.size();
  }
  Require(CheckBins(view) == totals.free_chunks, "each free chunk is in a bin", nullptr);
  Require(totals.in_use == static_cast<size_t>(view.stats.bytes_in_use), "bytes in use add up", nullptr);
  Require(bytes == view.regions.total_bytes(), "region sizes add up", nullptr);
}

}  // namespace muster::bfc
