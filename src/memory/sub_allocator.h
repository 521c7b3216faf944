#pragma once

#include <cstddef>
#include <memory>

namespace muster {

// Where an allocator gets its large regions from: the system's pages, a CUDA device, a test that fails on purpose.
// Thread-safe. Addresses are aligned to at least 256 bytes.
class SubAllocator {
 public:
  virtual ~SubAllocator() = default;
  // nullptr if there is no such memory: never throws.
  virtual void* Alloc(size_t bytes) = 0;
  // "bytes" is what Alloc was asked for.
  virtual void Free(void* data, size_t bytes) = 0;

  // A region that grows in place: addresses for "most" bytes, none of which may be used before Grow says so. Free takes
  // "most". nullptr if there is no such thing here, or no room for it.
  virtual void* Reserve(size_t /*most*/) { return nullptr; }
  // Makes the "more" bytes behind the first "bytes" of a reserved region usable; false, with nothing changed, if there
  // is no memory.
  virtual bool Grow(void* /*data*/, size_t /*bytes*/, size_t /*more*/) { return false; }
};

}  // namespace muster
