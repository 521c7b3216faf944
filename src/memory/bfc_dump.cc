#include "memory/bfc_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"

namespace muster::bfc {
namespace {

std::string Human(size_t bytes) { return HumanBytes(static_cast<int64_t>(bytes)); }

struct BinTotals {
  int64_t chunks = 0, chunks_in_use = 0;
  size_t bytes = 0, bytes_in_use = 0, requested = 0;
};

void WriteBins(const View& view, std::string* text) {
  std::array<BinTotals, Bins::kCount> totals{};
  for (const Region& region : view.regions.list()) {
    view.ForEachChunk(region, [&](const Chunk& chunk) {
      BinTotals& bin = totals[static_cast<size_t>(Bins::IndexOf(chunk.size))];
      ++bin.chunks;
      bin.bytes += chunk.size;
      if (!chunk.in_use()) return;
      ++bin.chunks_in_use;
      bin.bytes_in_use += chunk.size;
      bin.requested += chunk.requested;
    });
  }
  for (int index = 0; index < Bins::kCount; ++index) {
    const BinTotals& bin = totals[static_cast<size_t>(index)];
    if (bin.chunks == 0) continue;
    *text += fmt::format("bin {:2} (from {}): {} chunks, {} in use; {}, {} in use, {} requested\n", index,
                         Human(Bins::Smallest(index)), bin.chunks, bin.chunks_in_use, Human(bin.bytes),
                         Human(bin.bytes_in_use), Human(bin.requested));
  }
}

// Why the request did not find a place: the free chunks that came nearest.
void WriteWantedBin(const View& view, size_t wanted, std::string* text) {
  const int index = Bins::IndexOf(RoundedBytes(wanted));
  *text += fmt::format("wanted {} ({} bytes, rounded to {}): bin {} (from {}) holds {} free chunks\n", Human(wanted),
                       wanted, RoundedBytes(wanted), index, Human(Bins::Smallest(index)), view.bins[index].size());
  for (const Bins::Entry& entry : view.bins[index])
    *text += fmt::format("  {} bytes at {}\n", entry.size, fmt::ptr(entry.data));
}

void WriteChunks(const View& view, std::string* text) {
  size_t number = 0;
  for (const Region& region : view.regions.list()) {
    *text += fmt::format("region {} of {} bytes at {}\n", number++, region.size(), fmt::ptr(region.data()));
    view.ForEachChunk(region, [&](const Chunk& chunk) {
      if (chunk.in_use()) {
        *text += fmt::format("  in use at {}: {} bytes, {} requested, allocation {}\n", fmt::ptr(chunk.data),
                             chunk.size, chunk.requested, chunk.allocation_id);
      } else {
        *text += fmt::format("  free   at {}: {} bytes\n", fmt::ptr(chunk.data), chunk.size);
      }
    });
  }
}

void WriteSizes(const View& view, std::string* text) {
  std::map<size_t, int64_t> counts;
  for (const Region& region : view.regions.list())
    view.ForEachChunk(region, [&](const Chunk& chunk) {
      if (chunk.in_use()) ++counts[chunk.size];
    });
  for (const auto& [size, count] : counts)
    *text += fmt::format("{} chunks of {} bytes totalling {}\n", count, size, Human(size * static_cast<size_t>(count)));
}

void WriteTotals(const View& view, std::string* text) {
  const AllocatorStats& stats = view.stats;
  *text += fmt::format("in use {} of {} in {} regions, limit {}\n", HumanBytes(stats.bytes_in_use),
                       Human(view.regions.total_bytes()), view.regions.list().size(), HumanBytes(stats.bytes_limit));
  *text += fmt::format("peak {}, largest allocation {}, {} allocations so far, largest free chunk {}\n",
                       HumanBytes(stats.peak_bytes_in_use), HumanBytes(stats.largest_allocation), stats.allocations,
                       Human(view.bins.LargestFree()));
}

// Marks the cells of "picture" that the bytes [begin, end) of "total" touch.
void Paint(std::string* picture, size_t begin, size_t end, size_t total, char mark) {
  if (begin == end) return;
  const double cell = static_cast<double>(total) / static_cast<double>(picture->size());
  const auto cell_of = [&](size_t byte) {
    return std::min(static_cast<size_t>(static_cast<double>(byte) / cell), picture->size() - 1);
  };
  for (size_t i = cell_of(begin); i <= cell_of(end - 1); ++i)
    if ((*picture)[i] != '*') (*picture)[i] = mark;
}

}  // namespace

std::string Occupancy(const View& view) {
  std::string picture(100, '_');
  const size_t total = view.regions.total_bytes();
  size_t position = 0;
  for (const Region& region : view.regions.list()) {
    view.ForEachChunk(region, [&](const Chunk& chunk) {
      if (chunk.in_use()) {
        Paint(&picture, position, position + chunk.requested, total, '*');
        Paint(&picture, position + chunk.requested, position + chunk.size, total, 'x');
      }
      position += chunk.size;
    });
  }
  return picture;
}

std::string Dump(const View& view, size_t wanted) {
  std::string text;
  text += fmt::format("memory of allocator {}\n", view.name);
  WriteBins(view, &text);
  if (wanted != 0) WriteWantedBin(view, wanted, &text);
  WriteChunks(view, &text);
  WriteSizes(view, &text);
  WriteTotals(view, &text);
  text += fmt::format("[{}]  * in use  x slack  _ free\n", Occupancy(view));
  return text;
}

}  // namespace muster::bfc
