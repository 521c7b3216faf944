#include <fmt/format.h>

#include "base/bytes.h"
#include "monitor/host_info.h"

namespace muster {
namespace {

std::string Line(const char* label, const std::string& text) { return fmt::format("{:<13}{}\n", label, text); }

std::string Counted(int count, const char* one) { return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s"); }

// Powers of two without decimals: "32KiB", else as HumanBytes.
std::string CacheSize(int64_t bytes) {
  if (bytes % kMiB == 0) return fmt::format("{}MiB", bytes / kMiB);
  if (bytes % kKiB == 0) return fmt::format("{}KiB", bytes / kKiB);
  return HumanBytes(bytes);
}

std::string Frequency(const CpuInfo& cpu) {
  if (cpu.fastest_mhz == 0) return "";
  if (cpu.fastest_mhz - cpu.slowest_mhz < 1) return fmt::format(", {:.0f} MHz now", cpu.fastest_mhz);
  return fmt::format(", {:.0f} to {:.0f} MHz now", cpu.slowest_mhz, cpu.fastest_mhz);
}

std::string Cores(const HostInfo& info) {
  const Topology& t = info.topology;
  std::string text = fmt::format("{}, {}, {}", Counted(t.packages, "package"), Counted(t.cores, "core"),
                                 Counted(t.threads, "hardware thread"));
  if (t.usable_threads != t.threads)
    text += fmt::format("; this process may use {} on {}", Counted(t.usable_threads, "thread"),
                        Counted(t.usable_cores, "core"));
  if (info.cgroup_cpus) text += fmt::format("; the control group grants {:.2f} CPUs", *info.cgroup_cpus);
  return text;
}

std::string Caches(const Topology& topology) {
  std::string text;
  for (const CacheInfo& cache : topology.caches)
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", cache.name, CacheSize(cache.bytes),
                        cache.count == 1 ? "" : fmt::format(" x {}", cache.count));
  return text.empty() ? "unknown" : text;
}

std::string Numa(const Topology& topology) {
  std::string text;
  for (const NumaNode& node : topology.numa_nodes)
    text += fmt::format("{}node {}: {}, {}", text.empty() ? "" : "; ", node.index, HumanBytes(node.bytes),
                        Counted(node.threads, "hardware thread"));
  return text.empty() ? "unknown" : text;
}

std::string FeatureNames(const CpuInfo& cpu, bool available) {
  std::string text;
  for (const CpuFeature& feature : cpu.features)
    if (feature.available == available) text += (text.empty() ? "" : " ") + feature.name;
  return text;
}

std::string Features(const CpuInfo& cpu) {
  const std::string have = FeatureNames(cpu, true), lack = FeatureNames(cpu, false);
  return (have.empty() ? "unknown" : have) + (lack.empty() ? "" : "; not here: " + lack);
}

std::string Memory(const SystemMemory& memory) {
  std::string text = fmt::format("{}, {} available", HumanBytes(memory.total), HumanBytes(memory.available));
  if (memory.cgroup_limit) {
    text += fmt::format("; the control group allows {}", HumanBytes(*memory.cgroup_limit));
    if (memory.cgroup_in_use) text += fmt::format(" ({} in use)", HumanBytes(*memory.cgroup_in_use));
  }
  return text + "; swap " + (memory.swap_total == 0 ? "none" : HumanBytes(memory.swap_total));
}

std::string HugePages(const SystemMemory& memory) {
  if (memory.huge_pages == "madvise") return "madvise: used for arenas";
  if (memory.huge_pages == "always") return "always: used everywhere";
  if (memory.huge_pages == "never")
    return "never: memory-bound steps run 20-30 % slower than with \"madvise\" "
           "(/sys/kernel/mm/transparent_hugepage/enabled)";
  return "unknown";
}

std::string Gpus(const GpuProbe& probe) {
  if (probe.gpus.empty()) return "none: " + probe.why_none;
  std::string text;
  for (size_t i = 0; i < probe.gpus.size(); ++i)
    text += fmt::format("{}{}: {}, {} ({} free)", i == 0 ? "" : "; ", i, probe.gpus[i].name,
                        HumanBytes(probe.gpus[i].memory_bytes), HumanBytes(probe.gpus[i].memory_free_bytes));
  if (!probe.driver_version.empty()) text += "; driver " + probe.driver_version;
  return text;
}

std::string Libraries(const std::vector<LibraryVersion>& libraries) {
  std::string text;
  for (const LibraryVersion& library : libraries)
    text += (text.empty() ? "" : ", ") + library.name + " " + library.version;
  return text;
}

std::string Use(const HostInfo& info) {
  std::string text = fmt::format("{} with {} ({})", fmt::join(info.use.devices, ", "),
                                 Counted(info.use.threads, "thread"), info.use.threads_reason);
  if (!info.gpu.gpus.empty()) text += "; this version of Muster has no GPU backend";
  return text;
}

}  // namespace

std::string HostInfoText(const HostInfo& info) {
  return Line("Host", fmt::format("{}, {}, {} {}", info.hostname, info.os, info.kernel, info.architecture)) +
         Line("CPU", info.cpu.model + Frequency(info.cpu)) + Line("Cores", Cores(info)) +
         Line("Caches", Caches(info.topology)) + Line("NUMA", Numa(info.topology)) +
         Line("Instructions", Features(info.cpu)) + Line("Memory", Memory(info.memory)) +
         Line("Huge pages", HugePages(info.memory)) + Line("GPUs", Gpus(info.gpu)) +
         Line("Libraries", Libraries(info.libraries)) + Line("Muster uses", Use(info));
}

}  // namespace muster
