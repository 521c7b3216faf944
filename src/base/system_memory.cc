#include "base/system_memory.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/proc_file.h"

namespace muster {
namespace {

// Groups of one hierarchy from our own up to the root, as folders.
std::vector<std::string> GroupsUpwards(const std::string& mount, std::string path) {
  std::vector<std::string> groups;
  while (path.size() > 1 && path.front() == '/') {
    groups.push_back(mount + path);
    path.resize(path.rfind('/'));
  }
  groups.push_back(mount);
  return groups;
}

// The path in the line "ID:CONTROLLERS:PATH" of /proc/self/cgroup; version 2 has one line with no controllers.
std::optional<std::string> GroupPath(std::string_view text, std::string_view controller) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string list = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const bool found = controller.empty() ? list == ",," : list.find("," + std::string(controller) + ",") != list.npos;
    if (found) return std::string(Trimmed(line.substr(second + 1)));
  }
  return std::nullopt;
}

struct Hierarchy {
  std::vector<std::string> groups;
  bool version2 = true;
};

// The groups that may limit us for a controller, of either version. Inside a container our path may lie outside the
// mount; the mount's root is then our group, and GroupsUpwards ends with it.
std::vector<Hierarchy> Hierarchies(const std::string& root, const std::string& controller) {
  const std::string text = ReadSmallFile(root + "/proc/self/cgroup").value_or("");
  std::vector<Hierarchy> all;
  if (const auto path = GroupPath(text, "")) all.push_back({GroupsUpwards(root + "/sys/fs/cgroup", *path), true});
  if (const auto path = GroupPath(text, controller))
    all.push_back({GroupsUpwards(root + "/sys/fs/cgroup/" + controller, *path), false});
  return all;
}

std::optional<int64_t> NumberIn(const std::string& path) {
  const auto text = ReadSmallFile(path);
  return text ? WholeNumber(*text) : std::nullopt;  // "max" is no number: unlimited
}

// Version 1 counts sub-groups under names of their own, and its limit holds for them, too.
int64_t FileCache(const std::string& group, bool version2) {
  const std::string text = ReadSmallFile(group + "/memory.stat").value_or("");
  int64_t bytes = 0;
  for (const char* list : {"inactive_file ", "active_file "})
    bytes += WholeNumber(LineValue(text, (version2 ? "" : "total_") + std::string(list)).value_or("")).value_or(0);
  return bytes;
}

void ReadMemoryGroups(const std::string& root, SystemMemory* memory) {
  for (const Hierarchy& hierarchy : Hierarchies(root, "memory")) {
    for (const std::string& group : hierarchy.groups) {
      const auto limit = NumberIn(group + (hierarchy.version2 ? "/memory.max" : "/memory.limit_in_bytes"));
      // Version 1 writes "unlimited" as a number near 2^63; such a limit is above what the machine has.
      if (!limit || *limit >= memory->total || (memory->cgroup_limit && *memory->cgroup_limit <= *limit)) continue;
      memory->cgroup_limit = limit;
      memory->cgroup_in_use = NumberIn(group + (hierarchy.version2 ? "/memory.current" : "/memory.usage_in_bytes"));
      memory->cgroup_file_cache = FileCache(group, hierarchy.version2);
      memory->cgroup_path = group.substr(root.size());
    }
  }
}

// The word in brackets: "always [madvise] never".
std::string BracketedWord(std::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  return std::string(text.substr(open + 1, close - open - 1));
}

// "QUOTA PERIOD" in microseconds (version 2), "max PERIOD" if unlimited.
std::optional<double> QuotaVersion2(const std::string& group) {
  const auto text = ReadSmallFile(group + "/cpu.max");
  if (!text) return std::nullopt;
  const size_t blank = text->find(' ');
  if (blank == std::string::npos) return std::nullopt;
  const auto quota = WholeNumber(std::string_view(*text).substr(0, blank));
  const auto period = WholeNumber(std::string_view(*text).substr(blank));
  if (!quota || !period || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> QuotaVersion1(const std::string& group) {
  const auto quota = NumberIn(group + "/cpu.cfs_quota_us"), period = NumberIn(group + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

int64_t SystemMemory::limit() const { return cgroup_limit ? std::min(total, *cgroup_limit) : total; }

std::optional<int64_t> SystemMemory::free() const {
  if (total == 0) return std::nullopt;
  if (!cgroup_limit) return available;
  const int64_t kept = std::max<int64_t>(0, cgroup_in_use.value_or(0) - cgroup_file_cache);
  return std::clamp<int64_t>(*cgroup_limit - kept, 0, available);
}

SystemMemory ReadSystemMemory(const std::string& root) {
  SystemMemory memory;
  const std::string text = ReadSmallFile(root + "/proc/meminfo").value_or("");
  memory.total = KilobyteValue(text, "MemTotal:").value_or(0);
  memory.available = KilobyteValue(text, "MemAvailable:").value_or(memory.total);
  memory.swap_total = KilobyteValue(text, "SwapTotal:").value_or(0);
  memory.huge_pages = BracketedWord(ReadSmallFile(root + "/sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
  ReadMemoryGroups(root, &memory);
  return memory;
}

std::optional<double> ReadCgroupCpuLimit(const std::string& root) {
  std::optional<double> smallest;
  for (const Hierarchy& hierarchy : Hierarchies(root, "cpu")) {
    for (const std::string& group : hierarchy.groups) {
      const auto limit = hierarchy.version2 ? QuotaVersion2(group) : QuotaVersion1(group);
      if (limit && (!smallest || *limit < *smallest)) smallest = limit;
    }
  }
  return smallest;
}

}  // namespace muster
