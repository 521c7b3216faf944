#include "monitor/host_info.h"

#include <fmt/core.h>
#include <sys/utsname.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/proc_file.h"

namespace muster {
namespace {

std::string WithoutQuotes(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

void ReadSystem(HostInfo* info) {
  utsname names{};
  if (uname(&names) == 0) {
    info->hostname = names.nodename;
    info->kernel = std::string(names.sysname) + " " + names.release;
    info->architecture = names.machine;
  }
  const std::string release = ReadSmallFile("/etc/os-release").value_or("");
  info->os = WithoutQuotes(LineValue(release, "PRETTY_NAME=").value_or("unknown system"));
}

}  // namespace

MachineUse ChooseUse(const Topology& topology, std::optional<double> cgroup_cpus) {
  MachineUse use;
  use.devices = {"/device:CPU:0"};
  use.threads = std::max(1, topology.usable_cores > 0 ? topology.usable_cores : topology.usable_threads);
  use.threads_reason = "one per usable core";
  if (cgroup_cpus && *cgroup_cpus < use.threads) {
    use.threads = std::max(1, static_cast<int>(std::ceil(*cgroup_cpus)));
    use.threads_reason = fmt::format("the control group grants {:.2f} CPUs", *cgroup_cpus);
  }
  return use;
}

HostInfo ReadHostInfo(std::vector<LibraryVersion> linked) {
  HostInfo info;
  ReadSystem(&info);
  info.cpu = ReadCpuInfo();
  info.topology = ReadTopology();
  info.cgroup_cpus = ReadCgroupCpuLimit();
  info.memory = ReadSystemMemory();
  info.gpu = ProbeGpus();
  info.libraries = std::move(linked);
  info.libraries.push_back({"hwloc", info.topology.hwloc_version});
  info.libraries.push_back({"zlib", zlibVersion()});
  info.use = ChooseUse(info.topology, info.cgroup_cpus);
  return info;
}

}  // namespace muster
