#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::bfc {

// Sizes and addresses of chunks are multiples of this.
constexpr size_t kUnit = 256;

// The smallest multiple of kUnit that is at least "bytes" (and at least kUnit).
constexpr size_t RoundedBytes(size_t bytes) { return bytes <= kUnit ? kUnit : (bytes + kUnit - 1) / kUnit * kUnit; }

// A chunk's index in the ChunkTable.
using Handle = uint32_t;
constexpr Handle kNoChunk = UINT32_MAX;

// A piece of a region, in use or free. The chunks of a region tile it and form a list in address order.
struct Chunk {
  static constexpr int64_t kFree = -1;

  char* data = nullptr;
  size_t size = 0;
  size_t requested = 0;           // what the caller asked for; 0 if free
  int64_t allocation_id = kFree;  // counts allocations from 1
  Handle previous = kNoChunk;
  Handle next = kNoChunk;  // of a dead record: the next dead record

  bool in_use() const { return allocation_id != kFree; }
};

// All chunk records of an allocator in one vector; dead records form a list and are used again. Handles stay valid,
// references do not survive New.
class ChunkTable {
 public:
  Chunk& operator[](Handle handle) { return chunks_[handle]; }
  const Chunk& operator[](Handle handle) const { return chunks_[handle]; }

  Handle New() {
    if (first_dead_ == kNoChunk) {
      chunks_.emplace_back();
      return static_cast<Handle>(chunks_.size() - 1);
    }
    const Handle handle = first_dead_;
    first_dead_ = chunks_[handle].next;
    chunks_[handle] = Chunk();
    return handle;
  }

  void Delete(Handle handle) {
    chunks_[handle] = Chunk();
    chunks_[handle].next = first_dead_;
    first_dead_ = handle;
  }

 private:
  std::vector<Chunk> chunks_;
  Handle first_dead_ = kNoChunk;
};

}  // namespace muster::bfc
