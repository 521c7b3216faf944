#include "monitor/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "muster/error.h"

namespace muster {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

HwlocTopology Load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw Internal("hwloc cannot make a topology");
  HwlocTopology topology(raw);
  // Instruction caches are left out unless asked for.
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(raw) != 0) throw Internal("hwloc cannot read the topology of this machine");
  return topology;
}

int Count(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

int CountUsable(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_bitmap_t usable) {
  int count = 0;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;)
    count += hwloc_bitmap_intersects(object->cpuset, usable) != 0 ? 1 : 0;
  return count;
}

void AddCaches(hwloc_topology_t topology, hwloc_obj_type_t type, const char* name, std::vector<CacheInfo>* caches) {
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
    const CacheInfo cache = {name, static_cast<int64_t>(object->attr->cache.size), 1,
                             hwloc_bitmap_weight(object->cpuset)};
    // Processors with two kinds of cores have caches of one level in two sizes.
    const auto same = std::find_if(caches->begin(), caches->end(), [&](const CacheInfo& other) {
      return std::tie(other.name, other.bytes, other.threads_sharing) ==
             std::tie(cache.name, cache.bytes, cache.threads_sharing);
    });
    if (same == caches->end()) {
      caches->push_back(cache);
    } else {
      ++same->count;
    }
  }
}

std::vector<NumaNode> NumaNodes(hwloc_topology_t topology) {
  std::vector<NumaNode> nodes;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;)
    nodes.push_back({static_cast<int>(node->os_index), static_cast<int64_t>(node->attr->numanode.local_memory),
                     hwloc_bitmap_weight(node->cpuset)});
  return nodes;
}

}  // namespace

Topology ReadTopology() {
  const HwlocTopology loaded = Load();
  hwloc_topology_t topology = loaded.get();
  Topology result;
  result.packages = Count(topology, HWLOC_OBJ_PACKAGE);
  result.cores = Count(topology, HWLOC_OBJ_CORE);
  result.threads = Count(topology, HWLOC_OBJ_PU);

  const Bitmap usable(hwloc_bitmap_alloc());
  if (usable == nullptr || hwloc_get_cpubind(topology, usable.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    result.usable_cores = result.cores;
    result.usable_threads = result.threads;
  } else {
    result.usable_cores = CountUsable(topology, HWLOC_OBJ_CORE, usable.get());
    result.usable_threads = CountUsable(topology, HWLOC_OBJ_PU, usable.get());
  }
  AddCaches(topology, HWLOC_OBJ_L1CACHE, "L1d", &result.caches);
  AddCaches(topology, HWLOC_OBJ_L1ICACHE, "L1i", &result.caches);
  AddCaches(topology, HWLOC_OBJ_L2CACHE, "L2", &result.caches);
  AddCaches(topology, HWLOC_OBJ_L3CACHE, "L3", &result.caches);
  AddCaches(topology, HWLOC_OBJ_L4CACHE, "L4", &result.caches);
  result.numa_nodes = NumaNodes(topology);
  const char* version = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "hwlocVersion");
  result.hwloc_version = version == nullptr ? "unknown" : version;
  return result;
}

}  // namespace muster
