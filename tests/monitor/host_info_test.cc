#include "monitor/host_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CpuInfo, ReadsModelFrequencyRangeAndInstructionSetsOfX86) {
  const CpuInfo info = ParseCpuInfo(
      "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\ncpu MHz\t\t: 1200.500\nflags\t\t: fpu avx avx2 fma "
      "avx512f_not amx_tile\n\n"
      "processor\t: 1\nmodel name\t: Some CPU @ 2.00GHz\ncpu MHz\t\t: 3000.000\nflags\t\t: fpu avx avx2 fma\n");
  EXPECT_EQ(info.model, "Some CPU @ 2.00GHz");
  EXPECT_EQ(info.slowest_mhz, 1200.5);
  EXPECT_EQ(info.fastest_mhz, 3000);
  EXPECT_TRUE(info.Has("AVX2"));
  EXPECT_TRUE(info.Has("AMX_TILE"));
  EXPECT_FALSE(info.Has("AVX512F"));  // a longer word is another one
  EXPECT_FALSE(info.Has("NEON"));
}

TEST(CpuInfo, ReadsArmFeaturesAndToleratesNothing) {
  const CpuInfo arm = ParseCpuInfo("processor\t: 0\nFeatures\t: fp asimd sve bf16\n");
  EXPECT_TRUE(arm.Has("NEON"));
  EXPECT_TRUE(arm.Has("SVE"));
  EXPECT_FALSE(arm.Has("I8MM"));
  EXPECT_EQ(arm.model, "unknown");
  EXPECT_EQ(ParseCpuInfo("").features.size(), 0u);
}

TEST(Topology, ThisMachineAddsUp) {
  const Topology topology = ReadTopology();
  EXPECT_GE(topology.cores, 1);
  EXPECT_GE(topology.threads, topology.cores);
  EXPECT_GE(topology.usable_threads, 1);
  EXPECT_LE(topology.usable_threads, topology.threads);
  EXPECT_LE(topology.threads, sysconf(_SC_NPROCESSORS_CONF));
  ASSERT_FALSE(topology.numa_nodes.empty());
  EXPECT_GT(topology.numa_nodes[0].bytes, 0);
  for (const CacheInfo& cache : topology.caches) {
    EXPECT_GT(cache.bytes, 0) << cache.name;
    EXPECT_GE(cache.count, 1) << cache.name;
  }
}

TEST(ChooseUse, TakesOneThreadPerUsableCoreUnlessTheQuotaIsSmaller) {
  Topology topology{.packages = 1, .cores = 8, .threads = 16, .usable_cores = 4, .usable_threads = 8};
  EXPECT_EQ(ChooseUse(topology, std::nullopt).threads, 4);
  EXPECT_EQ(ChooseUse(topology, 2.5).threads, 3);
  EXPECT_EQ(ChooseUse(topology, 100.0).threads, 4);
  EXPECT_EQ(ChooseUse(topology, 0.1).threads, 1);
  EXPECT_EQ(ChooseUse(Topology{}, std::nullopt).threads, 1);  // hwloc saw nothing
  EXPECT_THAT(ChooseUse(topology, 2.5).threads_reason, HasSubstr("2.50 CPUs"));
}

HostInfo Example() {
  HostInfo info;
  info.hostname = "box";
  info.os = "Debian GNU/Linux 12 (bookworm)";
  info.kernel = "Linux 6.1.0";
  info.architecture = "x86_64";
  info.cpu = {"Some CPU", 2000, 2000, {{"AVX2", true}, {"AMX_TILE", false}}};
  info.topology = {1, 2, 4, 1, 2, {{"L1d", 48 * kKiB, 2, 2}, {"L3", 30 * kMiB, 1, 4}}, {{0, 8 * kGiB, 4}}, "2.9.0"};
  info.memory = {.total = 8 * kGiB,
                 .available = 6 * kGiB,
                 .swap_total = 0,
                 .cgroup_limit = 4 * kGiB,
                 .cgroup_in_use = kGiB,
                 .cgroup_path = "",
                 .huge_pages = "madvise"};
  info.gpu.why_none = "no NVIDIA driver library found (a, b)";
  info.libraries = {{"oneDNN", "3.2.0"}, {"zlib", "1.2.13"}};
  info.use = {{"/device:CPU:0"}, 1, "one per usable core"};
  return info;
}

TEST(HostInfoText, HasOneLinePerTopic) {
  EXPECT_EQ(HostInfoText(Example()),
            "Host         box, Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64\n"
            "CPU          Some CPU, 2000 MHz now\n"
            "Cores        1 package, 2 cores, 4 hardware threads; this process may use 2 threads on 1 core\n"
            "Caches       L1d 48KiB x 2, L3 30MiB\n"
            "NUMA         node 0: 8.00GiB, 4 hardware threads\n"
            "Instructions AVX2; not here: AMX_TILE\n"
            "Memory       8.00GiB, 6.00GiB available; the control group allows 4.00GiB (1.00GiB in use); swap none\n"
            "Huge pages   madvise: used for arenas\n"
            "GPUs         none: no NVIDIA driver library found (a, b)\n"
            "Libraries    oneDNN 3.2.0, zlib 1.2.13\n"
            "Muster uses  /device:CPU:0 with 1 thread (one per usable core)\n");
}

TEST(HostInfoText, ShowsGpusAndThatTheyAreNotUsedYet) {
  HostInfo info = Example();
  info.gpu = {{{"Test GPU", 8 * kGiB, 6 * kGiB}}, "535.1", ""};
  const std::string text = HostInfoText(info);
  EXPECT_THAT(text, HasSubstr("GPUs         0: Test GPU, 8.00GiB (6.00GiB free); driver 535.1\n"));
  EXPECT_THAT(text, HasSubstr("this version of Muster has no GPU backend"));
}

TEST(HostInfoJson, HoldsTheSameFactsAsNumbersAndNulls) {
  const auto json = nlohmann::json::parse(HostInfoJson(Example()).Text());
  EXPECT_EQ(json["cpu"]["model"], "Some CPU");
  EXPECT_EQ(json["cpu"]["usable_threads"], 2);
  EXPECT_EQ(json["cpu"]["cgroup_cpus"], nullptr);
  EXPECT_EQ(json["cpu"]["instructions"]["AVX2"], true);
  EXPECT_EQ(json["cpu"]["instructions"]["AMX_TILE"], false);
  EXPECT_EQ(json["caches"][1]["bytes"], 30 * kMiB);
  EXPECT_EQ(json["memory"]["cgroup_limit_bytes"], 4 * kGiB);
  EXPECT_EQ(json["gpus"].size(), 0u);
  EXPECT_EQ(json["why_no_gpu"], "no NVIDIA driver library found (a, b)");
  EXPECT_EQ(json["libraries"]["oneDNN"], "3.2.0");
  EXPECT_EQ(json["use"]["threads"], 1);
}

TEST(HostInfoJson, BytesThatAreNotUtf8DoNotBreakIt) {
  HostInfo info = Example();
  info.hostname = "b\xff";
  EXPECT_NO_THROW(nlohmann::json::parse(HostInfoJson(info).Text()));
}

TEST(HostInfo, ThisMachineIsDescribed) {
  const HostInfo info = ReadHostInfo({{"oneDNN", "3.2.0"}});
  EXPECT_FALSE(info.hostname.empty());
  EXPECT_THAT(info.kernel, HasSubstr("Linux"));
  EXPECT_GE(info.use.threads, 1);
  EXPECT_EQ(info.libraries.front().name, "oneDNN");
  EXPECT_THAT(HostInfoText(info), Not(HasSubstr("hwloc unknown")));
}

}  // namespace
}  // namespace muster
