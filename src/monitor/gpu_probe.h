#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

struct GpuInfo {
  std::string name;
  int64_t memory_bytes = 0;
  int64_t memory_free_bytes = 0;
};

// Which NVIDIA GPUs are here, without linking anything of NVIDIA's.
struct GpuProbe {
  std::vector<GpuInfo> gpus;
  std::string driver_version;  // empty if unknown
  std::string why_none;        // one line without a period; empty if there are GPUs
};

// The driver's libraries that are opened at run time: CUDA's, which kernels need, and NVML, which lists the devices.
struct GpuLibraries {
  std::string cuda = "libcuda.so.1";
  std::string nvml = "libnvidia-ml.so.1";
};

// Never fails: what is wrong ends up in why_none. The libraries are closed again. One thread at a time.
GpuProbe ProbeGpus(const GpuLibraries& libraries = {});

}  // namespace muster
