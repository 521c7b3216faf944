#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

// An instruction set that makes a difference to Muster's kernels.
struct CpuFeature {
  std::string name;        // as its vendor writes it: "AVX512_BF16"
  bool available = false;  // the CPU has it and the kernel lets programs use it
};

struct CpuInfo {
  std::string model;       // "Intel(R) Xeon(R) Processor"; "unknown" if the kernel does not say
  double slowest_mhz = 0;  // of the logical CPUs, at this moment; 0 if unknown
  double fastest_mhz = 0;
  std::vector<CpuFeature> features;  // all that matter on this architecture, available or not

  bool Has(std::string_view feature) const;
};

// Any thread.
CpuInfo ReadCpuInfo();

// From the text of /proc/cpuinfo, of x86-64 or 64-bit ARM.
CpuInfo ParseCpuInfo(std::string_view text);

}  // namespace muster
