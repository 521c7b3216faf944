#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <set>

#include "memory/bfc_chunk.h"

namespace muster::bfc {

// The free chunks, sorted into 21 bins: bin b holds sizes from 256 * 2^b (inclusive) to 256 * 2^(b+1) (exclusive), the
// last one (from 256 MiB) is open-ended. Within a bin chunks are ordered by size, then address.
class Bins {
 public:
  static constexpr int kCount = 21;

  struct Entry {
    size_t size;
    char* data;
    Handle handle;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  using Bin = std::set<Entry>;

  static constexpr size_t Smallest(int bin) { return kUnit << bin; }
  static constexpr int IndexOf(size_t size) {
    return size < kUnit ? 0 : std::min(kCount - 1, static_cast<int>(std::bit_width(size / kUnit)) - 1);
  }

  void Insert(const Chunk& chunk, Handle handle) { bins_[Index(chunk)].insert({chunk.size, chunk.data, handle}); }
  void Remove(const Chunk& chunk, Handle handle) { bins_[Index(chunk)].erase({chunk.size, chunk.data, handle}); }

  // The smallest chunk (of those, the lowest address) with at least "size" bytes, or kNoChunk. Not removed.
  Handle FindBestFit(size_t size) const {
    const int first = IndexOf(size);
    for (int bin = first; bin < kCount; ++bin) {
      const Bin& chunks = bins_[static_cast<size_t>(bin)];
      // Chunks of a higher bin are all large enough.
      const auto found = bin == first ? chunks.lower_bound({size, nullptr, 0}) : chunks.begin();
      if (found != chunks.end()) return found->handle;
    }
    return kNoChunk;
  }

  size_t LargestFree() const {
    for (auto bin = bins_.rbegin(); bin != bins_.rend(); ++bin)
      if (!bin->empty()) return bin->rbegin()->size;
    return 0;
  }

  const Bin& operator[](int bin) const { return bins_[static_cast<size_t>(bin)]; }

 private:
  static size_t Index(const Chunk& chunk) { return static_cast<size_t>(IndexOf(chunk.size)); }

  std::array<Bin, kCount> bins_;
};

}  // namespace muster::bfc
