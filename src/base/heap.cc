#include "base/heap.h"

#include <malloc.h>

#include <array>
#include <cstddef>
#include <cstdlib>

namespace muster {

void KeepHeapWhole() {
  // glibc's cache holds seven blocks of each size, and sizes are 16 bytes apart. The largest scrap is the alignment,
  // 128 bytes for oneDNN, and what a block of its own needs, on either side.
  constexpr size_t kPerSize = 7, kSmallest = 24, kStep = 16, kSizes = 20;
  std::array<void*, kPerSize * kSizes> blocks;
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = std::malloc(kSmallest + i / kPerSize * kStep);
  asm volatile("" : : "r"(blocks.data()) : "memory");  // else the compiler leaves both loops out
  for (void* block : blocks) std::free(block);
}

void ReleaseFreeHeap() { malloc_trim(0); }

}  // namespace muster
