#include "memory/arena_placement.h"

#include <algorithm>
#include <utility>

namespace muster::arena {
namespace {

// The blocks placed so far in the order of their offsets, as separate arrays, so that the scan over lifetimes, where
// all the time goes, is a plain loop over integers.
class Placed {
 public:
  explicit Placed(size_t capacity) {
    firsts_.reserve(capacity);
    lasts_.reserve(capacity);
    offsets_.reserve(capacity);
    ends_.reserve(capacity);
    live_.resize(capacity);
  }

  // The offset of the smallest gap of at least block.bytes between those placed that live at the same time (the lowest
  // of equal ones), or the end of the topmost.
  int64_t BestFit(const Block& block) {
    const size_t count = CollectLive(block);
    int64_t covered = 0, best_offset = -1, best_gap = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t other = live_[i];
      const int64_t gap = offsets_[other] - covered;
      if (gap >= block.bytes && (best_offset < 0 || gap < best_gap)) {
        best_offset = covered;
        best_gap = gap;
        if (gap == block.bytes) break;
      }
      covered = std::max(covered, ends_[other]);
    }
    return best_offset >= 0 ? best_offset : covered;
  }

  void Insert(const Block& block, int64_t offset) {
    const auto place = std::upper_bound(offsets_.begin(), offsets_.end(), offset) - offsets_.begin();
    firsts_.insert(firsts_.begin() + place, block.first);
    lasts_.insert(lasts_.begin() + place, block.last);
    ends_.insert(ends_.begin() + place, offset + block.bytes);
    offsets_.insert(offsets_.begin() + place, offset);
  }

 private:
  // Fills live_ with the places of those that share a step with the block; without a branch in the loop.
  size_t CollectLive(const Block& block) {
    size_t count = 0;
    for (size_t i = 0; i < firsts_.size(); ++i) {
      live_[count] = static_cast<uint32_t>(i);
      count += static_cast<size_t>(firsts_[i] <= block.last) & static_cast<size_t>(lasts_[i] >= block.first);
    }
    return count;
  }

  std::vector<int> firsts_, lasts_;
  std::vector<int64_t> offsets_, ends_;
  std::vector<uint32_t> live_;
};

}  // namespace

Placement PlaceInOrder(std::span<const Block> blocks, std::span<const int> order) {
  Placement placement;
  placement.offsets.resize(blocks.size());
  Placed placed(blocks.size());
  for (const int index : order) {
    const Block& block = blocks[static_cast<size_t>(index)];
    const int64_t offset = placed.BestFit(block);
    placement.arena_bytes = std::max(placement.arena_bytes, offset + block.bytes);
    placement.offsets[static_cast<size_t>(index)] = offset;
    placed.Insert(block, offset);
  }
  return placement;
}

int64_t LargestLiveSum(std::span<const Block> blocks) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // (step, bytes that come or go before it)
  changes.reserve(2 * blocks.size());
  for (const Block& block : blocks) {
    changes.emplace_back(block.first, block.bytes);
    changes.emplace_back(int64_t{block.last} + 1, -block.bytes);
  }
  // Of one step, what goes sorts before what comes.
  std::sort(changes.begin(), changes.end());
  int64_t live = 0, largest = 0;
  for (const auto& [step, bytes] : changes) {
    live += bytes;
    largest = std::max(largest, live);
  }
  return largest;
}

}  // namespace muster::arena
