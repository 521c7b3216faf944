#include "bench/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/file.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

// The contents of a file of /proc or /sys, "" when it cannot be read (containers hide some of them).
std::string ReadSystemFile(const std::string& path) {
  try {
    return ReadFile(path);
  } catch (const Error&) {
    return "";
  }
}

// The text behind "key" and its colon on the first line that starts with the key.
std::string Field(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

// "16384 kB" and "48K" alike: the number, times 1024 for a K and so on.
int64_t Bytes(const std::string& text) {
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10);
  while (*end == ' ') ++end;
  switch (*end) {
    case 'k':
    case 'K': return number << 10;
    case 'M': return number << 20;
    case 'G': return number << 30;
    default: return number;
  }
}

std::vector<std::pair<std::string, int64_t>> ReadCaches() {
  std::vector<std::pair<std::string, int64_t>> caches;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string level = ReadSystemFile(folder + "level"), type = ReadSystemFile(folder + "type");
    if (level.empty() || type.empty()) break;
    const std::string suffix = type[0] == 'D' ? "d" : type[0] == 'I' ? "i" : "";
    caches.emplace_back(fmt::format("L{}{}", level[0], suffix), Bytes(ReadSystemFile(folder + "size")));
  }
  return caches;
}

std::vector<std::string> ReadInstructionSets(const std::string& cpuinfo) {
  const std::vector<std::string> wanted = {"sse4_2",   "avx",      "avx2",        "fma",         "f16c",
                                           "avx512f",  "avx512bw", "avx512_vnni", "avx512_bf16", "amx_tile",
                                           "amx_bf16", "amx_int8", "asimd",       "sve"};
  std::string flags = Field(cpuinfo, "flags");
  if (flags.empty()) flags = Field(cpuinfo, "Features");  // how ARM kernels call the line
  std::vector<std::string> found;
  std::istringstream words(flags);
  std::string word;
  while (words >> word) {
    if (std::find(wanted.begin(), wanted.end(), word) != wanted.end()) found.push_back(word);
  }
  return found;
}

int UsableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return CPU_COUNT(&set);
}

}  // namespace

// Muster has no GPU backend yet, so there is nothing to look for.
std::string DefaultDevice() { return "cpu"; }

MachineFacts ReadMachineFacts() {
  MachineFacts facts;
  utsname names{};
  if (::uname(&names) == 0) {
    facts.host = names.nodename;
    facts.system = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  }
  const std::string cpuinfo = ReadSystemFile("/proc/cpuinfo"), meminfo = ReadSystemFile("/proc/meminfo");
  facts.cpu_model = Field(cpuinfo, "model name");
  facts.cpu_mhz = std::atof(Field(cpuinfo, "cpu MHz").c_str());
  facts.num_cpus = UsableCpus();
  facts.memory_total_bytes = Bytes(Field(meminfo, "MemTotal"));
  facts.memory_available_bytes = Bytes(Field(meminfo, "MemAvailable"));
  facts.caches = ReadCaches();
  facts.instruction_sets = ReadInstructionSets(cpuinfo);
  return facts;
}

}  // namespace muster::bench
