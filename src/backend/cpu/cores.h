#pragma once

#include <vector>

namespace muster {

// Hardware threads, by the system's numbers.
using HardwareThreads = std::vector<int>;

// The cores of this machine that the calling thread may use, each with its usable hardware threads; neighbours share
// caches and memory. From hwloc, some tens of milliseconds. Throws Internal if it cannot read the machine.
std::vector<HardwareThreads> UsableCores();

// Shares cores out among devices: each gets as many whole, neighbouring ones as go round, and none gets another's. If
// there are fewer cores than devices all get none, which means anywhere: the system shares them out better than a fixed
// rule.
std::vector<HardwareThreads> DealCores(const std::vector<HardwareThreads>& cores, int devices);

// From now on the calling thread, and threads that it starts, run there only. None: no change. What the system refuses
// is ignored: results do not depend on it.
void BindThisThread(const HardwareThreads& threads);

}  // namespace muster
