#include "backend/cpu/cores.h"

#include <hwloc.h>
#include <sched.h>

#include <memory>

#include "base/check.h"
#include "muster/error.h"

namespace muster {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};

cpu_set_t ThisThreadsMask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &mask);
  return mask;
}

}  // namespace

std::vector<HardwareThreads> UsableCores() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw Internal("hwloc cannot make a topology");
  const std::unique_ptr<hwloc_topology, Destroy> topology(raw);
  if (hwloc_topology_load(raw) != 0) throw Internal("hwloc cannot read the topology of this machine");
  const cpu_set_t mask = ThisThreadsMask();
  std::vector<HardwareThreads> cores;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_CORE, core)) != nullptr;) {
    HardwareThreads usable;
    unsigned cpu;
    hwloc_bitmap_foreach_begin(cpu, core->cpuset) {
      if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &mask)) usable.push_back(static_cast<int>(cpu));
    }
    hwloc_bitmap_foreach_end();
    if (!usable.empty()) cores.push_back(std::move(usable));
  }
  return cores;
}

std::vector<HardwareThreads> DealCores(const std::vector<HardwareThreads>& cores, int devices) {
  MUSTER_CHECK(devices > 0);
  std::vector<HardwareThreads> dealt(static_cast<size_t>(devices));
  const size_t each = cores.size() / dealt.size();
  for (size_t d = 0; d < dealt.size(); ++d)
    for (size_t c = d * each; c < (d + 1) * each; ++c)
      dealt[d].insert(dealt[d].end(), cores[c].begin(), cores[c].end());
  return dealt;
}

void BindThisThread(const HardwareThreads& threads) {
  if (threads.empty()) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int thread : threads) CPU_SET(thread, &mask);
  sched_setaffinity(0, sizeof(mask), &mask);
}

}  // namespace muster
