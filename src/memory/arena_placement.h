#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster::arena {

// What is placed as one: a value, or all values of a group.
struct Block {
  int64_t bytes = 0;  // a multiple of the alignment, above 0
  int first = 0;
  int last = 0;
};

struct Placement {
  std::vector<int64_t> offsets;  // by block
  int64_t arena_bytes = 0;
};

// Places the blocks in the given order, each where it fits best between those placed before.
Placement PlaceInOrder(std::span<const Block> blocks, std::span<const int> order);

// The largest sum of bytes of blocks that are live in one step.
int64_t LargestLiveSum(std::span<const Block> blocks);

}  // namespace muster::arena
