#include "monitor/host_info.h"

namespace muster {
namespace {

Json NumberOrNull(double value) { return value == 0 ? Json() : Json(value); }

Json Cpu(const HostInfo& info) {
  Json features = Json::Object();
  for (const CpuFeature& feature : info.cpu.features) features[feature.name] = feature.available;
  const Topology& topology = info.topology;
  return {{"model", info.cpu.model},
          {"mhz_min", NumberOrNull(info.cpu.slowest_mhz)},
          {"mhz_max", NumberOrNull(info.cpu.fastest_mhz)},
          {"packages", topology.packages},
          {"cores", topology.cores},
          {"threads", topology.threads},
          {"usable_cores", topology.usable_cores},
          {"usable_threads", topology.usable_threads},
          {"cgroup_cpus", info.cgroup_cpus},
          {"instructions", features}};
}

Json Caches(const Topology& topology) {
  Json caches = Json::Array();
  for (const CacheInfo& cache : topology.caches)
    caches.push_back({{"name", cache.name},
                      {"bytes", cache.bytes},
                      {"count", cache.count},
                      {"threads_sharing", cache.threads_sharing}});
  return caches;
}

Json Numa(const Topology& topology) {
  Json nodes = Json::Array();
  for (const NumaNode& node : topology.numa_nodes)
    nodes.push_back({{"index", node.index}, {"bytes", node.bytes}, {"threads", node.threads}});
  return nodes;
}

Json Memory(const SystemMemory& memory) {
  return {{"total_bytes", memory.total},
          {"available_bytes", memory.available},
          {"swap_bytes", memory.swap_total},
          {"cgroup_limit_bytes", memory.cgroup_limit},
          {"cgroup_in_use_bytes", memory.cgroup_in_use},
          {"huge_pages", memory.huge_pages.empty() ? Json() : Json(memory.huge_pages)}};
}

Json Gpus(const GpuProbe& probe) {
  Json gpus = Json::Array();
  for (const GpuInfo& gpu : probe.gpus)
    gpus.push_back(
        {{"name", gpu.name}, {"memory_bytes", gpu.memory_bytes}, {"memory_free_bytes", gpu.memory_free_bytes}});
  return gpus;
}

}  // namespace

Json HostInfoJson(const HostInfo& info) {
  Json libraries = Json::Object();
  for (const LibraryVersion& library : info.libraries) libraries[library.name] = library.version;
  const GpuProbe& gpu = info.gpu;
  return {
      {"host",
       {{"name", info.hostname}, {"os", info.os}, {"kernel", info.kernel}, {"architecture", info.architecture}}},
      {"cpu", Cpu(info)},
      {"caches", Caches(info.topology)},
      {"numa_nodes", Numa(info.topology)},
      {"memory", Memory(info.memory)},
      {"gpus", Gpus(gpu)},
      {"gpu_driver_version", gpu.driver_version.empty() ? Json() : Json(gpu.driver_version)},
      {"why_no_gpu", gpu.why_none.empty() ? Json() : Json(gpu.why_none)},
      {"libraries", libraries},
      {"use",
       {{"devices", info.use.devices}, {"threads", info.use.threads}, {"threads_reason", info.use.threads_reason}}}};
}

}  // namespace muster
