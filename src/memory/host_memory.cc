#include "memory/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace muster {
namespace {

size_t PageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t WholePages(size_t bytes) {
  return static_cast<size_t>(RoundUp(static_cast<int64_t>(bytes), static_cast<int64_t>(PageSize())));
}

// MAP_NORESERVE: a region is an upper bound, of which only the touched part counts.
char* Map(size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<char*>(data);
}

// Maps one huge page too much and gives back what lies before the boundary and behind the end.
char* MapOnHugeBoundary(size_t bytes) {
  char* whole = Map(bytes + HostMemory::kHugePage);
  if (whole == nullptr) return nullptr;
  const size_t past = reinterpret_cast<uintptr_t>(whole) % HostMemory::kHugePage;
  const size_t head = past == 0 ? 0 : HostMemory::kHugePage - past;
  if (head != 0) munmap(whole, head);
  if (head != HostMemory::kHugePage) munmap(whole + head + bytes, HostMemory::kHugePage - head);
  return whole + head;
}

}  // namespace

void* HostMemory::Alloc(size_t bytes) {
  constexpr size_t kLargest = size_t{1} << 60;  // above it, rounding could wrap; no machine has that much
  if (bytes == 0 || bytes > kLargest) return nullptr;
  const size_t pages = WholePages(bytes);
  const bool large = huge_pages_ && pages >= kHugePage;
  char* data = large ? MapOnHugeBoundary(pages) : Map(pages);
  if (data == nullptr) return nullptr;
  // The answer is ignored: where transparent huge pages are not built in, small ones serve.
  if (large) madvise(data, pages, MADV_HUGEPAGE);
  MutexLock lock(mutex_);
  stats_.bytes_mapped += static_cast<int64_t>(pages);
  stats_.peak_bytes_mapped = std::max(stats_.peak_bytes_mapped, stats_.bytes_mapped);
  ++stats_.mappings;
  ++stats_.total_mappings;
  if (large) stats_.huge_page_bytes += static_cast<int64_t>(pages);
  return data;
}

void HostMemory::Free(void* data, size_t bytes) {
  if (data == nullptr) return;
  const size_t pages = WholePages(bytes);
  MUSTER_CHECK(munmap(data, pages) == 0);
  MutexLock lock(mutex_);
  stats_.bytes_mapped -= static_cast<int64_t>(pages);
  --stats_.mappings;
  if (huge_pages_ && pages >= kHugePage) stats_.huge_page_bytes -= static_cast<int64_t>(pages);
}

HostMemoryStats HostMemory::Stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

}  // namespace muster
