#include "base/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "base/bytes.h"

namespace muster {
namespace {

constexpr size_t kBlock = size_t{64} << 20;
// The kernel's counters lag by up to 64 pages per thread, and the heap of the test moves a little.
constexpr int64_t kSlack = 2 * kMiB;

// Anonymous pages, touched, until the end of the scope.
class Touched {
 public:
  Touched() : data_(mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    std::memset(data_, 1, kBlock);
  }
  ~Touched() { munmap(data_, kBlock); }
  Touched(const Touched&) = delete;
  Touched& operator=(const Touched&) = delete;

 private:
  void* data_;
};

TEST(ProcessMemory, ReadsTheFieldsOfStatusAndRollup) {
  const ProcessMemory status = ParseProcessStatus(
      "VmHWM:\t  900 kB\nVmRSS:\t  800 kB\nRssAnon:\t  500 kB\nRssFile:\t  290 kB\nRssShmem:\t  10 kB\n");
  EXPECT_EQ(status.resident, 800 * kKiB);
  EXPECT_EQ(status.anonymous, 500 * kKiB);
  EXPECT_EQ(status.file, 290 * kKiB);
  EXPECT_EQ(status.shared, 10 * kKiB);
  EXPECT_EQ(status.peak_resident, 900 * kKiB);
  EXPECT_EQ(status.huge_anonymous, -1);
  const ProcessMemory rollup =
      ParseSmapsRollup("1-2 ---p 0 00:00 0  [rollup]\nRss: 800 kB\nAnonymous: 500 kB\nAnonHugePages: 400 kB\n");
  EXPECT_EQ(rollup.resident, 800 * kKiB);
  EXPECT_EQ(rollup.anonymous, 500 * kKiB);
  EXPECT_EQ(rollup.huge_anonymous, 400 * kKiB);
}

TEST(ProcessMemory, WhatIsMissingIsMarkedUnknown) {
  EXPECT_EQ(ParseProcessStatus("").resident, -1);
  EXPECT_EQ(ParseSmapsRollup("Rss: x\n").resident, -1);
  EXPECT_EQ(PeakOwnBytes(ProcessMemory{}), -1);
}

TEST(ProcessMemory, PeakOwnBytesIsTheHighWaterMarkLessFilesAndAtLeastWhatIsHeldNow) {
  ProcessMemory memory{.resident = 500, .anonymous = 300, .file = 200, .shared = 0, .peak_resident = 900};
  EXPECT_EQ(PeakOwnBytes(memory), 700);
  memory.peak_resident = 400;  // an older mark than the reading
  EXPECT_EQ(PeakOwnBytes(memory), 300);
}

TEST(ProcessMemory, TouchedPagesCountAsAnonymousInBothReadings) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow of the pages counts as ours too";
#endif
  const ProcessMemory before = ReadProcessMemory(), exact_before = ReadProcessMemoryExactly();
  const Touched block;
  const ProcessMemory after = ReadProcessMemory(), exact_after = ReadProcessMemoryExactly();
  const auto size = static_cast<double>(kBlock), slack = static_cast<double>(kSlack);
  EXPECT_NEAR(static_cast<double>(after.anonymous - before.anonymous), size, slack);
  EXPECT_NEAR(static_cast<double>(after.resident - before.resident), size, slack);
  EXPECT_NEAR(static_cast<double>(exact_after.anonymous - exact_before.anonymous), size, slack);
  EXPECT_NEAR(static_cast<double>(after.file - before.file), 0, slack);
  EXPECT_EQ(after.resident, after.anonymous + after.file + after.shared);
}

TEST(ProcessMemory, ThePeakRemembersFreedMemoryUntilItIsReset) {
  const int64_t before = ReadProcessMemory().anonymous;
  { const Touched block; }
  EXPECT_GE(PeakOwnBytes(), before + static_cast<int64_t>(kBlock) - kSlack);
  if (!ResetPeakResident()) GTEST_SKIP() << "the kernel does not let us reset the mark";
  EXPECT_LT(PeakOwnBytes(), before + static_cast<int64_t>(kBlock) / 2);
}

}  // namespace
}  // namespace muster
