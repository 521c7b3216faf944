#include "memory/bfc_allocator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/bytes.h"
#include "memory/host_memory.h"
#include "tests/memory/fake_source.h"

namespace muster {
namespace {

struct Rig {
  explicit Rig(size_t limit, bool allow_growth = true, bool release = false, std::chrono::milliseconds wait = {})
      : log(std::make_shared<SourceLog>()),
        allocator(std::make_unique<FakeSource>(log), {.name = "test_bfc",
                                                      .memory_limit = limit,
                                                      .allow_growth = allow_growth,
                                                      .release_free_regions = release,
                                                      .retry_wait = wait}) {}
  std::shared_ptr<SourceLog> log;
  BfcAllocator allocator;
};

TEST(BfcBins, BinBHoldsSizesFrom256TimesTwoToTheBAndTheLastIsOpen) {
  EXPECT_EQ(bfc::Bins::kCount, 21);
  for (int bin = 0; bin < 20; ++bin) {
    const size_t smallest = size_t{256} << bin;
    EXPECT_EQ(bfc::Bins::IndexOf(smallest), bin);
    EXPECT_EQ(bfc::Bins::IndexOf(2 * smallest - 256), bin);
    EXPECT_EQ(bfc::Bins::IndexOf(2 * smallest), bin + 1);
  }
  EXPECT_EQ(bfc::Bins::Smallest(20), size_t{256} << 20);
  EXPECT_EQ(bfc::Bins::IndexOf(size_t{256} << 20), 20);
  EXPECT_EQ(bfc::Bins::IndexOf(size_t{1} << 45), 20);
}

TEST(BfcBins, TheSmallestFittingChunkWinsAndOfEqualOnesTheLowestAddress) {
  bfc::Bins bins;
  char memory[4096];
  const auto chunk = [&](size_t offset, size_t size) { return bfc::Chunk{.data = memory + offset, .size = size}; };
  bins.Insert(chunk(0, 1536), 1);
  bins.Insert(chunk(2048, 1280), 2);
  bins.Insert(chunk(512, 1280), 3);
  bins.Insert(chunk(3584, 2048), 4);
  EXPECT_EQ(bins.FindBestFit(1024), 3u);  // bin 2 holds the first three
  EXPECT_EQ(bins.FindBestFit(1536), 1u);
  EXPECT_EQ(bins.FindBestFit(1792), 4u);  // bin 2 has none, bin 3 does
  EXPECT_EQ(bins.FindBestFit(2304), bfc::kNoChunk);
  EXPECT_EQ(bins.LargestFree(), 2048u);
}

TEST(BfcAllocator, RoundsSizesUpToMultiplesOf256) {
  Rig rig(1 << 20);
  const std::pair<size_t, size_t> cases[] = {{1, 256}, {255, 256}, {256, 256}, {257, 512}, {1000, 1024}, {1025, 1280}};
  for (const auto& [asked, taken] : cases) {
    void* data = rig.allocator.Allocate(asked);
    EXPECT_EQ(rig.allocator.AllocatedBytes(data), taken);
    EXPECT_EQ(rig.allocator.RequestedBytes(data), asked);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 256, 0u);
    rig.allocator.Free(data);
  }
}

TEST(BfcAllocator, ZeroBytesGiveNull) {
  Rig rig(1 << 20);
  EXPECT_EQ(rig.allocator.Allocate(0), nullptr);
  EXPECT_EQ(rig.allocator.TryAllocate(0), nullptr);
  rig.allocator.Free(nullptr);
  EXPECT_EQ(rig.allocator.Stats().allocations, 0);
  EXPECT_TRUE(rig.log->asked.empty());
}

TEST(BfcAllocator, SplitsAChunkTwiceAsLargeAsNeededAndKeepsASmallerOneWhole) {
  Rig rig(4096, /*allow_growth=*/false);
  void* a = rig.allocator.Allocate(1024);
  void* fence = rig.allocator.Allocate(256);
  rig.allocator.Free(a);
  void* b = rig.allocator.Allocate(512);  // 1024 = 2 * 512: split
  EXPECT_EQ(b, a);
  EXPECT_EQ(rig.allocator.AllocatedBytes(b), 512u);
  rig.allocator.Free(b);
  void* c = rig.allocator.Allocate(513);  // rounded to 768, 1024 < 2 * 768: whole
  EXPECT_EQ(c, a);
  EXPECT_EQ(rig.allocator.AllocatedBytes(c), 1024u);
  EXPECT_EQ(rig.allocator.DetailedStats().slack_bytes, 1024 - 513);
  rig.allocator.CheckConsistency();
  rig.allocator.Free(c);
  rig.allocator.Free(fence);
}

TEST(BfcAllocator, SplitsWhenTheRemainderIs128MiBOrMore) {
  // Virtual memory that nobody touches: HostMemory, not the heap.
  BfcAllocator allocator(std::make_unique<HostMemory>(), {.memory_limit = size_t{300} << 20, .allow_growth = false});
  void* b = allocator.Allocate((size_t{172} << 20) + 1);  // leaves less than 128 MiB: whole
  EXPECT_EQ(allocator.AllocatedBytes(b), size_t{300} << 20);
  allocator.Free(b);
  b = allocator.Allocate(size_t{172} << 20);  // leaves 128 MiB: split, though 300 < 2 * 172
  EXPECT_EQ(allocator.AllocatedBytes(b), size_t{172} << 20);
  allocator.Free(b);
}

TEST(BfcAllocator, FreedChunksMergeWithBothNeighbours) {
  Rig rig(8192, /*allow_growth=*/false);
  void* a = rig.allocator.Allocate(1024);
  void* b = rig.allocator.Allocate(1024);
  void* c = rig.allocator.Allocate(1024);
  void* d = rig.allocator.Allocate(1024);
  rig.allocator.Free(a);
  rig.allocator.Free(c);
  EXPECT_EQ(rig.allocator.DetailedStats().largest_free, 4096);
  rig.allocator.Free(b);
  rig.allocator.CheckConsistency();
  void* whole = rig.allocator.Allocate(3072);
  EXPECT_EQ(whole, a);
  rig.allocator.Free(whole);
  rig.allocator.Free(d);
  rig.allocator.CheckConsistency();
  EXPECT_EQ(rig.allocator.DetailedStats().largest_free, 8192);
}

TEST(BfcGrowth, WithoutGrowthTheWholeLimitIsTakenByTheFirstAllocation) {
  Rig rig(size_t{5} << 20, /*allow_growth=*/false);
  EXPECT_TRUE(rig.log->asked.empty());
  void* data = rig.allocator.Allocate(100);
  EXPECT_EQ(rig.log->given, std::vector<size_t>{size_t{5} << 20});
  rig.allocator.Free(data);
}

TEST(BfcGrowth, RegionsBeginAtTwoMiBAndDouble) {
  Rig rig(size_t{64} << 20);
  std::vector<void*> all;
  for (int i = 0; i < 14; ++i) all.push_back(rig.allocator.Allocate(kMiB));
  EXPECT_EQ(rig.log->given, (std::vector<size_t>{2 << 20, 4 << 20, 8 << 20}));
  for (void* data : all) rig.allocator.Free(data);
}

TEST(BfcGrowth, ALargeRequestDoublesTheRegionSizeUntilItFitsAndOnlyThen) {
  Rig rig(size_t{64} << 20);
  void* a = rig.allocator.Allocate(size_t{5} << 20);   // 2 -> 4 -> 8, doubled for this request: next stays 8
  void* b = rig.allocator.Allocate(size_t{7} << 20);   // 8, then next becomes 16
  void* c = rig.allocator.Allocate(size_t{10} << 20);  // 16
  EXPECT_EQ(rig.log->given, (std::vector<size_t>{8 << 20, 8 << 20, 16 << 20}));
  rig.allocator.Free(a);
  rig.allocator.Free(b);
  rig.allocator.Free(c);
}

TEST(BfcGrowth, TheLastRegionIsWhatTheLimitLeavesRoundedDownTo256) {
  Rig rig((size_t{3} << 20) + 300);
  void* a = rig.allocator.Allocate(size_t{2} << 20);
  void* b = rig.allocator.Allocate(kMiB);
  EXPECT_EQ(rig.log->given, (std::vector<size_t>{2 << 20, (1 << 20) + 256}));
  EXPECT_EQ(rig.allocator.TryAllocate(512), nullptr);
  rig.allocator.Free(a);
  rig.allocator.Free(b);
}

TEST(BfcGrowth, ALimitBelowTwoMiBIsTheFirstRegion) {
  Rig rig(100'000);
  void* data = rig.allocator.Allocate(1);
  EXPECT_EQ(rig.log->given, std::vector<size_t>{99'840});  // 390 * 256
  rig.allocator.Free(data);
}

TEST(BfcGrowth, BacksOffByTenthsUntilTheSourceAgreesButOnlyOnce) {
  Rig rig(size_t{64} << 20);
  rig.log->fail = [](size_t bytes) { return bytes > 1'530'000; };
  void* data = rig.allocator.Allocate(kMiB);
  EXPECT_EQ(rig.log->asked.size(), 4u);  // 2 MiB and 0.9, 0.81, 0.729 of it
  ASSERT_EQ(rig.log->given.size(), 1u);
  EXPECT_NEAR(static_cast<double>(rig.log->given[0]), 0.729 * 2 * kMiB, 3 * 256);
  EXPECT_EQ(rig.log->given[0] % 256, 0u);
  // The next region would be 4 MiB; its refusal is final.
  EXPECT_THROW(rig.allocator.Allocate(kMiB), OutOfMemory);
  EXPECT_EQ(rig.log->asked.size(), 5u);
  EXPECT_EQ(rig.log->asked.back(), size_t{4} << 20);
  rig.allocator.CheckConsistency();
  rig.allocator.Free(data);
}

TEST(BfcGrowth, ASourceThatAlwaysRefusesEndsInOutOfMemory) {
  Rig rig(size_t{64} << 20);
  rig.log->fail = [](size_t) { return true; };
  EXPECT_THROW(rig.allocator.Allocate(1), OutOfMemory);
  EXPECT_THROW(rig.allocator.Allocate(1), OutOfMemory);
  EXPECT_EQ(rig.allocator.Stats().bytes_reserved, 0);
  rig.log->fail = [](size_t) { return false; };
  rig.allocator.Free(rig.allocator.Allocate(1));  // and it recovers
}

TEST(BfcGrowth, FreeRegionsAreTradedForAFittingOneOnlyIfAsked) {
  for (const bool release : {false, true}) {
    Rig rig(size_t{8} << 20, /*allow_growth=*/true, release);
    void* kept = rig.allocator.Allocate(size_t{2} << 20);   // region of 2 MiB
    void* freed = rig.allocator.Allocate(size_t{3} << 20);  // region of 4 MiB
    rig.allocator.Free(freed);
    // 5 MiB fit under the limit only without the free 4 MiB.
    void* data = rig.allocator.TryAllocate(size_t{5} << 20);
    EXPECT_EQ(data != nullptr, release);
    EXPECT_EQ(rig.log->live.size(), 2u);
    EXPECT_FALSE(rig.log->wrong_free);
    rig.allocator.CheckConsistency();
    if (data != nullptr) rig.allocator.Free(data);
    rig.allocator.Free(kept);
  }
}

// What a plan needs must fit the limit, whatever was allocated and freed before.
TEST(BfcGrowth, InPlaceWhatIsFreeUnderTheLimitIsOnePiece) {
  Rig rig(size_t{64} << 20);
  rig.log->can_reserve = true;
  BfcAllocator allocator(std::make_unique<FakeSource>(rig.log),
                         {.memory_limit = size_t{64} << 20, .allow_growth = true, .grow_in_place = true});
  void* variables = allocator.Allocate(3 * kMiB);
  allocator.Free(allocator.Allocate(20 * kMiB));  // a plan that came and went
  void* step = allocator.Allocate(61 * kMiB);
  EXPECT_EQ(allocator.DetailedStats().regions, 1);
  EXPECT_EQ(allocator.Stats().bytes_reserved, 64 * int64_t{kMiB});
  allocator.CheckConsistency();
  EXPECT_EQ(allocator.TryAllocate(256), nullptr);
  allocator.Free(step);
  allocator.Free(variables);
  allocator.CheckConsistency();
}

TEST(BfcGrowth, InPlaceItTakesTwoMiBThenAtLeastDoubles) {
  Rig rig(size_t{64} << 20);
  rig.log->can_reserve = true;
  BfcAllocator allocator(std::make_unique<FakeSource>(rig.log),
                         {.memory_limit = size_t{64} << 20, .allow_growth = true, .grow_in_place = true});
  std::vector<void*> all;
  for (int i = 0; i < 7; ++i) all.push_back(allocator.Allocate(kMiB));
  EXPECT_EQ(rig.log->grown, (std::vector<size_t>{2 << 20, 4 << 20, 8 << 20}));
  EXPECT_NE(allocator.Dump().find("in 1 regions"), std::string::npos);
  for (void* data : all) allocator.Free(data);
}

TEST(BfcGrowth, InPlaceASourceWithoutTheMemoryForMoreGivesWhatIsNeeded) {
  Rig rig(size_t{64} << 20);
  rig.log->can_reserve = true;
  rig.log->fail = [](size_t bytes) { return bytes > kMiB; };
  BfcAllocator allocator(std::make_unique<FakeSource>(rig.log),
                         {.memory_limit = size_t{64} << 20, .allow_growth = true, .grow_in_place = true});
  void* data = allocator.Allocate(kMiB);
  EXPECT_EQ(rig.log->grown, std::vector<size_t>{kMiB});
  EXPECT_THROW(allocator.Allocate(3 * kMiB), OutOfMemory);
  allocator.CheckConsistency();
  allocator.Free(data);
}

TEST(BfcAllocator, GivesAllRegionsBackAtItsEnd) {
  std::shared_ptr<SourceLog> log;
  {
    Rig rig(size_t{64} << 20);
    log = rig.log;
    void* data = rig.allocator.Allocate(size_t{9} << 20);
    rig.allocator.Free(data);
    EXPECT_FALSE(log->live.empty());
  }
  EXPECT_TRUE(log->live.empty());
  EXPECT_FALSE(log->wrong_free);
}

TEST(BfcAllocator, ALimitBelowTheSmallestChunkIsRefused) {
  EXPECT_THROW(Rig(255), Error);
  Rig rig(256);
  rig.allocator.Free(rig.allocator.Allocate(256));
}

TEST(BfcAllocator, HugeRequestsFailInsteadOfWrappingAround) {
  Rig rig(size_t{1} << 20);
  EXPECT_THROW(rig.allocator.Allocate(SIZE_MAX), OutOfMemory);
  EXPECT_EQ(rig.allocator.TryAllocate(SIZE_MAX - 100), nullptr);
}

TEST(BfcStats, CountInUsePeakLargestAndIds) {
  Rig rig(size_t{64} << 20);
  void* a = rig.allocator.Allocate(1000);
  void* b = rig.allocator.Allocate(5000);
  EXPECT_EQ(rig.allocator.AllocationId(a), 1);
  EXPECT_EQ(rig.allocator.AllocationId(b), 2);
  rig.allocator.Free(a);
  const AllocatorStats stats = rig.allocator.Stats();
  EXPECT_EQ(stats.allocations, 2);
  EXPECT_EQ(stats.bytes_in_use, 5120);
  EXPECT_EQ(stats.peak_bytes_in_use, 1024 + 5120);
  EXPECT_EQ(stats.largest_allocation, 5120);
  EXPECT_EQ(stats.bytes_limit, int64_t{64} << 20);
  EXPECT_EQ(stats.bytes_reserved, int64_t{2} << 20);
  rig.allocator.ResetPeak();
  EXPECT_EQ(rig.allocator.Stats().peak_bytes_in_use, 5120);
  rig.allocator.Free(b);
}

TEST(BfcStats, FragmentationIsTheShareOfFreeBytesOutsideTheLargestPiece) {
  Rig rig(4096, /*allow_growth=*/false);
  void* a = rig.allocator.Allocate(1024);
  void* b = rig.allocator.Allocate(1024);
  EXPECT_EQ(rig.allocator.DetailedStats().fragmentation, 0);
  rig.allocator.Free(a);  // 1024 and 2048 free
  EXPECT_DOUBLE_EQ(rig.allocator.DetailedStats().fragmentation, 1024.0 / 3072);
  EXPECT_EQ(rig.allocator.DetailedStats().free_bytes, 3072);
  rig.allocator.Free(b);
  EXPECT_EQ(rig.allocator.DetailedStats().fragmentation, 0);
}

TEST(BfcRetry, AnAllocationWaitsForAnotherThreadsFree) {
  Rig rig(4096, /*allow_growth=*/false, /*release=*/false, std::chrono::minutes(1));
  void* all = rig.allocator.Allocate(4096);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    rig.allocator.Free(all);
  });
  void* data = rig.allocator.Allocate(2048);
  other.join();
  EXPECT_NE(data, nullptr);
  rig.allocator.Free(data);
}

TEST(BfcRetry, ItGivesUpAfterTheWaitAndTryAllocateNeverWaits) {
  Rig rig(4096, /*allow_growth=*/false, /*release=*/false, std::chrono::milliseconds(5));
  void* all = rig.allocator.Allocate(4096);
  EXPECT_THROW(rig.allocator.Allocate(1), OutOfMemory);
  EXPECT_EQ(rig.allocator.TryAllocate(1), nullptr);
  rig.allocator.Free(all);
}

}  // namespace
}  // namespace muster
