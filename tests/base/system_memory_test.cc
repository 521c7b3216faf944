#include "base/system_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"

namespace muster {
namespace {

// A folder that plays the root of a machine.
class FakeRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "muster_root_" + std::to_string(getpid());
    std::filesystem::remove_all(root_);
    Write("/proc/meminfo",
          "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\nSwapTotal: 1024 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

TEST_F(FakeRoot, WithoutALimitTheMachineIsTheLimit) {
  Write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const SystemMemory memory = ReadSystemMemory(root_);
  EXPECT_EQ(memory.total, 16 * kGiB);
  EXPECT_EQ(memory.swap_total, kMiB);
  EXPECT_EQ(memory.limit(), 16 * kGiB);
  EXPECT_EQ(memory.free(), 8 * kGiB);
  EXPECT_EQ(memory.huge_pages, "madvise");
  EXPECT_EQ(memory.cgroup_limit, std::nullopt);
  EXPECT_EQ(ReadCgroupCpuLimit(root_), std::nullopt);
}

TEST_F(FakeRoot, TheSmallestLimitOnThePathToTheRootOfVersion2Counts) {
  Write("/proc/self/cgroup", "0::/user/job\n");
  Write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  Write("/sys/fs/cgroup/user/job/memory.current", "5\n");
  Write("/sys/fs/cgroup/user/memory.max", "4294967296\n");
  Write("/sys/fs/cgroup/user/memory.current", "1073741824\n");
  Write("/sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  const SystemMemory memory = ReadSystemMemory(root_);
  EXPECT_EQ(memory.cgroup_limit, 4 * kGiB);
  EXPECT_EQ(memory.cgroup_path, "/sys/fs/cgroup/user");
  EXPECT_EQ(memory.limit(), 4 * kGiB);
  EXPECT_EQ(memory.free(), 3 * kGiB);
  EXPECT_EQ(ReadCgroupCpuLimit(root_), 1.5);
}

TEST_F(FakeRoot, Version1IsReadAndItsUnlimitedNumberIsNone) {
  Write("/proc/self/cgroup", "4:memory:/a/b\n2:cpu,cpuacct:/a\n1:name=systemd:/\n");
  Write("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "2147483648\n");
  Write("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "3147483648\n");
  Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  Write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  Write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  const SystemMemory memory = ReadSystemMemory(root_);
  EXPECT_EQ(memory.cgroup_limit, 2 * kGiB);
  EXPECT_EQ(memory.free(), 0);  // used more than the limit: nothing, not a negative number
  EXPECT_EQ(ReadCgroupCpuLimit(root_), std::nullopt);
}

// A container that has read many files: nearly all that is in use are their pages.
TEST_F(FakeRoot, CachedFilesInTheGroupAreFree) {
  Write("/proc/self/cgroup", "0::/job\n");
  Write("/sys/fs/cgroup/job/memory.max", "4294967296\n");
  Write("/sys/fs/cgroup/job/memory.current", "4294967296\n");
  Write("/sys/fs/cgroup/job/memory.stat",
        "anon 1073741824\nfile 3221225472\ninactive_anon 7\nactive_anon 9\ninactive_file 2147483648\nactive_file "
        "536870912\n");
  EXPECT_EQ(ReadSystemMemory(root_).free(), 2 * kGiB + kGiB / 2);
  Write("/sys/fs/cgroup/job/memory.stat",
        "inactive_file 9223372036854775807\n");  // read a moment later than what is in use
  EXPECT_EQ(ReadSystemMemory(root_).free(), 4 * kGiB);
}

TEST_F(FakeRoot, CachedFilesOfVersion1AreThoseOfItsSubGroupsToo) {
  Write("/proc/self/cgroup", "4:memory:/a\n");
  Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2147483648\n");
  Write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "2147483648\n");
  Write("/sys/fs/cgroup/memory/a/memory.stat",
        "inactive_file 1\nactive_file 2\ntotal_inactive_file 536870912\ntotal_active_file 536870912\n");
  EXPECT_EQ(ReadSystemMemory(root_).free(), kGiB);
}

TEST_F(FakeRoot, NothingFreeIsNotTheSameAsUnknown) {
  Write("/proc/self/cgroup", "0::/job\n");
  Write("/sys/fs/cgroup/job/memory.max", "1073741824\n");
  Write("/sys/fs/cgroup/job/memory.current", "1073741824\n");
  EXPECT_EQ(ReadSystemMemory(root_).free(), 0);
  std::filesystem::remove(root_ + "/proc/meminfo");
  EXPECT_EQ(ReadSystemMemory(root_).free(), std::nullopt);
}

TEST_F(FakeRoot, AContainerWhosePathIsOutsideItsMountUsesTheMountsRoot) {
  Write("/proc/self/cgroup", "0::/../../outside\n");
  Write("/sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(ReadSystemMemory(root_).limit(), kGiB);
}

TEST_F(FakeRoot, AMalformedPathIsIgnored) {
  Write("/proc/self/cgroup", "0::relative\nnonsense\n4:memory:\n");
  EXPECT_EQ(ReadSystemMemory(root_).limit(), 16 * kGiB);
}

TEST(SystemMemory, ThisMachineHasMemory) {
  const SystemMemory memory = ReadSystemMemory();
  EXPECT_GT(memory.total, 0);
  EXPECT_LE(memory.limit(), memory.total);
  EXPECT_LE(memory.free(), memory.limit());
}

}  // namespace
}  // namespace muster
