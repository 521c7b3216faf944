#include "base/heap.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <initializer_list>
#include <thread>

namespace muster {
namespace {

size_t HeapBytes() { return ::mallinfo2().arena; }

// Sizes, alignment and order as oneDNN's matrix products take them in ResNet-50; one block at a time.
void TakeAndReturn() {
  for (int round = 0; round < 10; ++round)
    for (const size_t bytes : {718432, 484960, 951904, 1105504, 718432, 484960}) {
      void* block = nullptr;
      ASSERT_EQ(::posix_memalign(&block, 128, bytes), 0);
      asm volatile("" : : "r"(block) : "memory");  // or the compiler takes none
      std::free(block);
    }
}

TEST(KeepHeapWhole, BlocksThatComeAndGoTakeLittleMoreThanTheLargestOfThem) {
  std::thread([] {  // with a heap of its own, which is in one piece again when it ends
    const size_t before = HeapBytes();
    KeepHeapWhole();
    TakeAndReturn();
    EXPECT_LT(HeapBytes() - before, size_t{3} << 20);
  })
      .join();
}

}  // namespace
}  // namespace muster
