#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// All caches of one kind and size.
struct CacheInfo {
  std::string name;   // "L1d", "L1i", "L2", "L3"
  int64_t bytes = 0;  // of each
  int count = 0;
  int threads_sharing = 0;  // hardware threads behind each
};

struct NumaNode {
  int index = 0;      // the system's number
  int64_t bytes = 0;  // local memory
  int threads = 0;
};

// How this machine is built, as hwloc sees it.
struct Topology {
  int packages = 0;
  int cores = 0;
  int threads = 0;       // hardware threads of all cores
  int usable_cores = 0;  // of which this process' affinity mask leaves at least one thread
  int usable_threads = 0;
  std::vector<CacheInfo> caches;  // by level, data before instructions
  std::vector<NumaNode> numa_nodes;
  std::string hwloc_version;  // "2.9.0"
};

// Asks hwloc, some tens of milliseconds. Throws Internal if it cannot read the machine. Any thread.
Topology ReadTopology();

}  // namespace muster
