#include "base/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/heap.h"
#include "base/proc_file.h"

namespace muster {

ProcessMemory ParseProcessStatus(std::string_view status) {
  ProcessMemory memory;
  memory.resident = KilobyteValue(status, "VmRSS:").value_or(-1);
  memory.anonymous = KilobyteValue(status, "RssAnon:").value_or(-1);
  memory.file = KilobyteValue(status, "RssFile:").value_or(-1);
  memory.shared = KilobyteValue(status, "RssShmem:").value_or(-1);
  memory.peak_resident = KilobyteValue(status, "VmHWM:").value_or(-1);
  return memory;
}

ProcessMemory ParseSmapsRollup(std::string_view rollup) {
  ProcessMemory memory;
  memory.resident = KilobyteValue(rollup, "Rss:").value_or(-1);
  memory.anonymous = KilobyteValue(rollup, "Anonymous:").value_or(-1);
  memory.huge_anonymous = KilobyteValue(rollup, "AnonHugePages:").value_or(-1);
  if (memory.resident < 0 || memory.anonymous < 0) return memory;
  // The rollup has no resident size of shared memory: the two non-anonymous kinds are told apart by the caller.
  memory.file = memory.resident - memory.anonymous;
  memory.shared = 0;
  return memory;
}

ProcessMemory ReadProcessMemory() { return ParseProcessStatus(ReadSmallFile("/proc/self/status").value_or("")); }

ProcessMemory ReadProcessMemoryExactly() {
  const ProcessMemory counters = ReadProcessMemory();
  ProcessMemory exact = ParseSmapsRollup(ReadSmallFile("/proc/self/smaps_rollup").value_or(""));
  if (exact.resident < 0 || exact.anonymous < 0) return counters;
  exact.shared = std::clamp<int64_t>(counters.shared, 0, exact.file);
  exact.file -= exact.shared;
  exact.peak_resident = std::max(counters.peak_resident, exact.resident);
  return exact;
}

int64_t PeakOwnBytes(const ProcessMemory& memory) {
  if (memory.resident < 0 || memory.file < 0) return memory.peak_resident;
  const int64_t now = memory.resident - memory.file;
  return std::max(now, memory.peak_resident - memory.file);
}

int64_t PeakOwnBytes() { return PeakOwnBytes(ReadProcessMemory()); }

int64_t HeldOwnBytes() {
  ReleaseFreeHeap();  // what was freed does not count
  const ProcessMemory memory = ReadProcessMemoryExactly();
  return std::max<int64_t>(memory.anonymous, 0) + std::max<int64_t>(memory.shared, 0);
}

bool ResetPeakResident() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, "5", 1) == 1;
  close(file);
  return written;
}

}  // namespace muster
