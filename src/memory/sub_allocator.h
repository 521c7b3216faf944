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
};

}  // namespace muster
