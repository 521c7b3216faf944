#pragma once

#include <cstddef>
#include <cstdint>

#include "base/mutex.h"
#include "memory/sub_allocator.h"

namespace muster {

struct HostMemoryStats {
  int64_t bytes_mapped = 0;  // whole pages, touched or not
  int64_t peak_bytes_mapped = 0;
  int64_t mappings = 0;         // live ones
  int64_t total_mappings = 0;   // since construction
  int64_t huge_page_bytes = 0;  // part of bytes_mapped for which huge pages were asked
};

// System memory in page-aligned private mappings, zero-filled, one mapping per Alloc. Pages become resident when first
// touched, so a large region costs only what is used of it. Regions of at least 2 MiB start on a 2 MiB boundary and ask
// for transparent huge pages (madvise): measured 20-30 % on memory-bound steps. Where the kernel has none the request
// is without effect.
class HostMemory final : public SubAllocator {
 public:
  static constexpr size_t kHugePage = size_t{2} << 20;

  explicit HostMemory(bool huge_pages = true) : huge_pages_(huge_pages) {}

  void* Alloc(size_t bytes) override;
  void Free(void* data, size_t bytes) override;
  // Address space; pages are there when they are touched, so that Grow only has to agree.
  void* Reserve(size_t most) override { return Alloc(most); }
  bool Grow(void* /*data*/, size_t /*bytes*/, size_t /*more*/) override { return true; }
  HostMemoryStats Stats() const;

 private:
  const bool huge_pages_;
  mutable Mutex mutex_;
  HostMemoryStats stats_ MUSTER_GUARDED_BY(mutex_);
};

}  // namespace muster
