#include "monitor/gpu_probe.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/bytes.h"

namespace muster {
namespace {

GpuProbe ProbeFake(const char* gpus) {
  setenv("FAKE_NVML_GPUS", gpus, 1);
  return ProbeGpus({.cuda = "libno_such_cuda.so.1", .nvml = FAKE_NVML});
}

TEST(GpuProbe, WithoutLibrariesItSaysWhichWereLookedFor) {
  const GpuProbe probe = ProbeGpus({.cuda = "libno_such_cuda.so.1", .nvml = "libno_such_nvml.so.1"});
  EXPECT_TRUE(probe.gpus.empty());
  EXPECT_EQ(probe.why_none, "no NVIDIA driver library found (libno_such_cuda.so.1, libno_such_nvml.so.1)");
}

TEST(GpuProbe, CudaWithoutNvmlIsNamed) {
  const GpuProbe probe = ProbeGpus({.cuda = FAKE_NVML, .nvml = "libno_such_nvml.so.1"});
  EXPECT_NE(probe.why_none.find("libno_such_nvml.so.1, which lists the GPUs, is not"), std::string::npos);
}

TEST(GpuProbe, ALibraryWithoutTheFunctionsIsNoCrash) {
  const GpuProbe probe = ProbeGpus({.cuda = "libno_such_cuda.so.1", .nvml = EMPTY_NVML});
  EXPECT_NE(probe.why_none.find("lacks functions"), std::string::npos);
}

TEST(GpuProbe, ListsNamesAndMemory) {
  const GpuProbe probe = ProbeFake("2");
  ASSERT_EQ(probe.gpus.size(), 2u);
  EXPECT_EQ(probe.gpus[0].name, "Test GPU");
  EXPECT_EQ(probe.gpus[0].memory_bytes, 8 * kGiB);
  EXPECT_EQ(probe.gpus[0].memory_free_bytes, 6 * kGiB);
  EXPECT_EQ(probe.gpus[1].memory_bytes, 0);  // it would not say
  EXPECT_EQ(probe.driver_version, "535.1");
  EXPECT_EQ(probe.why_none, "");
}

TEST(GpuProbe, ADriverWithoutGpusAndOneThatFailsGiveAReason) {
  EXPECT_EQ(ProbeFake("0").why_none, "the NVIDIA driver is here but sees no GPU");
  EXPECT_EQ(ProbeFake("error").why_none, "the NVIDIA driver does not answer (NVML: Driver Not Loaded)");
}

}  // namespace
}  // namespace muster
