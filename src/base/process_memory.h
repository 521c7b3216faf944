#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

// What this process keeps in physical memory, split by origin, in bytes. A value; -1 where the kernel does not say.
//
// resident = anonymous + file + shared. "anonymous" is what the program itself made: heap, stacks, arenas (private
// pages without a file, and private pages of a file once written, such as relocated data). "file" is clean pages of
// mapped files: the binary, its libraries, and any file the program maps. "shared" is shared memory and tmpfs.
struct ProcessMemory {
  int64_t resident = -1;
  int64_t anonymous = -1;
  int64_t file = -1;
  int64_t shared = -1;
  int64_t peak_resident = -1;   // largest "resident" since the process began, or since ResetPeakResident
  int64_t huge_anonymous = -1;  // part of "anonymous" in transparent huge pages; only the exact reading knows it
};

// From /proc/self/status: some microseconds. The kernel batches these counters per thread or CPU, so that each may lag
// by up to 64 pages per thread (256 KiB). Any thread.
ProcessMemory ReadProcessMemory();

// The same from /proc/self/smaps_rollup, which walks the page tables: exact, some milliseconds per GiB of small pages.
// peak_resident comes from /proc/self/status. Falls back to ReadProcessMemory where the file is missing.
ProcessMemory ReadProcessMemoryExactly();

// Peak resident bytes less binary and libraries: what "measured_peak_bytes" in Muster's results is.
//
// The kernel keeps a high-water mark (VmHWM) of the total only. At the moment T of that mark the process held
// anonymous(T) + shared(T) = VmHWM - file(T). file(T) is not recorded, file(now) is. Code and libraries are paged in
// early and stay, so file(T) <= file(now) and the two differ by pages of code first run after T; VmHWM - file(now) is
// therefore exact up to that (hundreds of KiB in practice) and never more than what was really used. The result is at
// least what is held now: max(VmHWM - file(now), anonymous(now) + shared(now)). Two cases to know: a data file that the
// program maps counts as file, not as ours; and if the kernel reclaims code pages under memory pressure file(now)
// shrinks and the result grows by as much.
int64_t PeakOwnBytes();
// The same from a reading.
int64_t PeakOwnBytes(const ProcessMemory& memory);

// What the program itself holds now, without binary and libraries (0 where the kernel does not say); exact. Gives the
// heap's free memory back before.
int64_t HeldOwnBytes();

// Starts the high-water mark again from what is resident now, so that a phase can be measured alone. False if the
// kernel refuses (it takes write access to /proc/self/clear_refs).
bool ResetPeakResident();

// The parsers behind the readers, for text of those files.
ProcessMemory ParseProcessStatus(std::string_view status);
ProcessMemory ParseSmapsRollup(std::string_view rollup);

}  // namespace muster
