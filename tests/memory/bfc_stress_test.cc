#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "memory/bfc_allocator.h"
#include "memory/host_memory.h"
#include "tests/memory/fake_source.h"

namespace muster {
namespace {

// Sizes as they occur: mostly small, some of some MiB.
size_t RandomSize(std::mt19937_64& random) {
  const int bits = std::uniform_int_distribution<int>(1, 21)(random);
  return std::uniform_int_distribution<size_t>(1, size_t{1} << bits)(random);
}

// Live allocations by address, with a pattern in each that overlapping writes would destroy.
class Live {
 public:
  void Add(char* data, size_t bytes) {
    const auto next = blocks_.lower_bound(data);
    if (next != blocks_.end()) {
      EXPECT_LE(data + bytes, next->first) << "overlaps the next";
    }
    if (next != blocks_.begin()) {
      const auto before = std::prev(next);
      EXPECT_LE(before->first + before->second, data) << "overlaps the one before";
    }
    blocks_.emplace(data, bytes);
    std::memset(data, Mark(data), bytes);
  }

  char* RemoveRandom(std::mt19937_64& random) {
    const auto at = std::next(blocks_.begin(), static_cast<long>(random() % blocks_.size()));
    const auto [data, bytes] = *at;
    const bool intact = std::all_of(data, data + bytes, [mark = Mark(data)](char c) { return c == mark; });
    EXPECT_TRUE(intact) << "written by somebody else";
    blocks_.erase(at);
    return data;
  }

  size_t size() const { return blocks_.size(); }

 private:
  static char Mark(const char* data) { return static_cast<char>((reinterpret_cast<uintptr_t>(data) >> 8) % 251); }
  std::map<char*, size_t> blocks_;
};

struct Mode {
  bool allow_growth;
  bool release_free_regions;
  int failing_percent;  // of the source's answers
  bool grow_in_place = false;
};

class BfcStress : public ::testing::TestWithParam<Mode> {};

TEST_P(BfcStress, RandomAllocationsNeverOverlapAndTheStructureStaysConsistent) {
  const Mode mode = GetParam();
  std::mt19937_64 random(20240607);
  auto log = std::make_shared<SourceLog>();
  std::mt19937_64 faults(1);
  log->fail = [&](size_t) { return static_cast<int>(faults() % 100) < mode.failing_percent; };
  log->can_reserve = mode.grow_in_place;
  BfcAllocator allocator(std::make_unique<FakeSource>(log), {.memory_limit = size_t{24} << 20,
                                                             .allow_growth = mode.allow_growth,
                                                             .grow_in_place = mode.grow_in_place,
                                                             .release_free_regions = mode.release_free_regions});
  Live live;
  int refused = 0;
  for (int i = 0; i < 6000; ++i) {
    if (live.size() > 0 && random() % 100 < 48) {
      allocator.Free(live.RemoveRandom(random));
    } else {
      const size_t bytes = RandomSize(random);
      void* data = allocator.TryAllocate(bytes);
      if (data != nullptr) live.Add(static_cast<char*>(data), bytes);
      refused += data == nullptr ? 1 : 0;
    }
    if (i % 50 == 0) allocator.CheckConsistency();
    const AllocatorStats stats = allocator.Stats();
    ASSERT_LE(stats.bytes_reserved, stats.bytes_limit);
    ASSERT_LE(stats.bytes_in_use, stats.bytes_reserved);
  }
  EXPECT_GT(refused, 0) << "the limit was never reached: the test is too weak";
  while (live.size() > 0) allocator.Free(live.RemoveRandom(random));
  allocator.CheckConsistency();
  EXPECT_EQ(allocator.Stats().bytes_in_use, 0);
  EXPECT_EQ(allocator.DetailedStats().requested_bytes_in_use, 0);
  EXPECT_FALSE(log->wrong_free);
}

INSTANTIATE_TEST_SUITE_P(Modes, BfcStress,
                         ::testing::Values(Mode{true, false, 0}, Mode{false, false, 0}, Mode{true, true, 0},
                                           Mode{true, true, 60}, Mode{true, false, 0, true},
                                           Mode{true, true, 60, true}));

TEST(BfcStress, FourThreadsShareOneAllocator) {
  BfcAllocator allocator(std::make_unique<HostMemory>(), {.memory_limit = size_t{16} << 20});
  const auto work = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    Live live;
    for (int i = 0; i < 2000; ++i) {
      const size_t bytes = RandomSize(random) / 8 + 1;
      if (live.size() > 20) {
        allocator.Free(live.RemoveRandom(random));
      } else if (void* data = allocator.TryAllocate(bytes)) {
        live.Add(static_cast<char*>(data), bytes);
      }
    }
    while (live.size() > 0) allocator.Free(live.RemoveRandom(random));
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  allocator.CheckConsistency();
  EXPECT_EQ(allocator.Stats().bytes_in_use, 0);
}

}  // namespace
}  // namespace muster
