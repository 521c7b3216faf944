#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace muster {

// The machine's memory and the limits of this process' control group, in bytes. A value, read afresh by each call.
struct SystemMemory {
  int64_t total = 0;
  int64_t available = 0;  // the kernel's estimate of what a new program can get without swapping
  int64_t swap_total = 0;
  std::optional<int64_t> cgroup_limit;  // smallest limit on the path from our group to the root; none: unlimited
  std::optional<int64_t>
      cgroup_in_use;  // of the group that has that limit, with the files that the kernel keeps in memory for it
  int64_t cgroup_file_cache = 0;  // such files in it: the kernel drops them when the memory is wanted
  std::string cgroup_path;        // of that group, empty if there is no limit
  std::string huge_pages;         // "always", "madvise" or "never": transparent huge pages; empty if unknown

  // What a program may hold in all: the smaller of total and the group's limit.
  int64_t limit() const;
  // What it can still get: the smaller of available and the rest under the group's limit, where cached files take no
  // room. 0: nothing; nullopt: not known.
  std::optional<int64_t> free() const;
};

// "root" stands before /proc and /sys (a test's folder; empty on a real machine). Any thread; never fails: what cannot
// be read keeps its default.
SystemMemory ReadSystemMemory(const std::string& root = "");

// CPUs that the control group's quota grants, for example 1.5; nullopt if unlimited.
std::optional<double> ReadCgroupCpuLimit(const std::string& root = "");

}  // namespace muster
