#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/system_memory.h"
#include "monitor/cpu_info.h"
#include "monitor/gpu_probe.h"
#include "monitor/topology.h"

namespace muster {

struct LibraryVersion {
  std::string name;     // "oneDNN"
  std::string version;  // "3.2.0"
};

// What Muster would compute on.
struct MachineUse {
  std::vector<std::string> devices;  // "/device:CPU:0"
  int threads = 0;                   // of the CPU device
  std::string threads_reason;        // what the number comes from, for people
};

// The inventory of this machine that "muster devices" shows. A value; a snapshot.
struct HostInfo {
  std::string hostname;
  std::string os;            // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;        // "Linux 6.1.0-18-amd64"
  std::string architecture;  // "x86_64"
  CpuInfo cpu;
  Topology topology;
  std::optional<double> cgroup_cpus;  // CPUs' worth of time that the control group grants; none: unlimited
  SystemMemory memory;
  GpuProbe gpu;
  std::vector<LibraryVersion> libraries;
  MachineUse use;
};

// Reads everything, some tens of milliseconds. "linked" are versions that only the caller may know (oneDNN, protobuf);
// hwloc and zlib are added here. Throws Internal if hwloc cannot read the machine.
HostInfo ReadHostInfo(std::vector<LibraryVersion> linked = {});

// One thread per usable core (two on one core slow dense kernels down), at most as many as the control group's share of
// CPU time keeps busy, at least one.
MachineUse ChooseUse(const Topology& topology, std::optional<double> cgroup_cpus);

// For people: one labelled line per topic.
std::string HostInfoText(const HostInfo& info);

// For programs: one JSON object, bytes and MHz as numbers, unknown values null. Its fields are listed in README.md
// here.
Json HostInfoJson(const HostInfo& info);

}  // namespace muster
