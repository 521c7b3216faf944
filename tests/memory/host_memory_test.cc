#include "memory/host_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "memory/host_allocator.h"

namespace muster {
namespace {

TEST(HostMemory, RegionsArePageAlignedZeroedAndWritable) {
  HostMemory memory;
  char* data = static_cast<char*>(memory.Alloc(10'000));
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), 0u);
  EXPECT_TRUE(std::all_of(data, data + 10'000, [](char c) { return c == 0; }));
  std::memset(data, 1, 10'000);
  memory.Free(data, 10'000);
}

TEST(HostMemory, LargeRegionsStartOnAHugePageBoundaryWhateverTheirSize) {
  HostMemory memory;
  for (const size_t bytes : {size_t{2} << 20, (size_t{2} << 20) + 1, size_t{5'000'000}, size_t{64} << 20}) {
    char* data = static_cast<char*>(memory.Alloc(bytes));
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % HostMemory::kHugePage, 0u);
    data[0] = 1;
    data[bytes - 1] = 1;
    memory.Free(data, bytes);
  }
}

TEST(HostMemory, StatisticsFollowAllocAndFree) {
  HostMemory memory;
  const auto page = static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  void* small = memory.Alloc(1);
  void* large = memory.Alloc(size_t{4} << 20);
  memory.Free(small, 1);
  const HostMemoryStats stats = memory.Stats();
  EXPECT_EQ(stats.bytes_mapped, 4 * kMiB);
  EXPECT_EQ(stats.peak_bytes_mapped, 4 * kMiB + page);
  EXPECT_EQ(stats.mappings, 1);
  EXPECT_EQ(stats.total_mappings, 2);
  EXPECT_EQ(stats.huge_page_bytes, 4 * kMiB);
  memory.Free(large, size_t{4} << 20);
  EXPECT_EQ(memory.Stats().bytes_mapped, 0);
  EXPECT_EQ(memory.Stats().huge_page_bytes, 0);
}

TEST(HostMemory, WhatNoMachineHasIsRefusedWithNull) {
  HostMemory memory;
  EXPECT_EQ(memory.Alloc(0), nullptr);
  EXPECT_EQ(memory.Alloc(SIZE_MAX), nullptr);
  EXPECT_EQ(memory.Alloc(size_t{1} << 59), nullptr);
  EXPECT_EQ(memory.Stats().total_mappings, 0);
}

TEST(HostAllocator, SmallAndLargeBlocksAre64ByteAlignedAndFollowTheStatistics) {
  HostAllocator allocator("host");
  for (const size_t bytes : {size_t{1}, size_t{64}, size_t{65'535}, size_t{65'536}, size_t{3} << 20}) {
    char* data = static_cast<char*>(allocator.Allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, 7, bytes);
    EXPECT_EQ(allocator.Stats().bytes_in_use, RoundUp(static_cast<int64_t>(bytes), 64));
    allocator.Free(data);
    EXPECT_EQ(allocator.Stats().bytes_in_use, 0);
  }
  EXPECT_EQ(allocator.Stats().allocations, 5);
  EXPECT_EQ(allocator.Stats().peak_bytes_in_use, 3 * kMiB);
  EXPECT_EQ(allocator.Stats().largest_allocation, 3 * kMiB);
}

TEST(HostAllocator, ZeroBytesGiveNull) {
  HostAllocator allocator;
  EXPECT_EQ(allocator.Allocate(0), nullptr);
  allocator.Free(nullptr);
}

TEST(HostAllocator, RefusesWhatIsOverTheLimitAndSaysHowMuch) {
  HostAllocator allocator("host", size_t{1} << 20);
  void* data = allocator.Allocate(size_t{768} << 10);
  try {
    allocator.Allocate(size_t{512} << 10);
    FAIL() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(
        error.what(),
        "host is out of memory: asked for 512.00KiB (524288 bytes) with 768.00KiB in use of a limit of 1.00MiB");
    EXPECT_FALSE(error.dump().empty());
  }
  allocator.Free(data);
  allocator.Free(allocator.Allocate(size_t{1} << 20));
}

TEST(HostAllocator, WhatTheSystemCannotGiveIsAnErrorAndNotCounted) {
  HostAllocator allocator("host");
  EXPECT_THROW(allocator.Allocate(SIZE_MAX), OutOfMemory);
  EXPECT_EQ(allocator.Stats().bytes_in_use, 0);
}

TEST(HostAllocator, TheProcessWideOneIsLimitedByTheMachine) {
  HostAllocator& allocator = HostAllocator::Process();
  EXPECT_EQ(&allocator, &HostAllocator::Process());
  EXPECT_GT(allocator.Stats().bytes_limit, 0);
  allocator.Free(allocator.Allocate(100));
}

}  // namespace
}  // namespace muster
