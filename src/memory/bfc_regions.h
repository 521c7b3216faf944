#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "memory/bfc_chunk.h"

namespace muster::bfc {

// One block from the sub-allocator, tiled by chunks. Maps the start of a chunk to its handle through an array with one
// entry per kUnit bytes.
class Region {
 public:
  // "size" bytes that may grow to "capacity". Throws std::bad_alloc if there is no memory for the array.
  Region(char* data, size_t size, size_t capacity);

  char* data() const { return data_; }
  char* end() const { return data_ + size_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }  // what the sub-allocator gave

  Handle Get(const char* chunk) const { return handles_.get()[Index(chunk)] - 1; }
  void Set(const char* chunk, Handle handle) { handles_.get()[Index(chunk)] = handle + 1; }
  void Erase(const char* chunk) { handles_.get()[Index(chunk)] = 0; }

 private:
  friend class Regions;
  struct Deleter {
    void operator()(void* memory) const { std::free(memory); }
  };
  size_t Index(const char* chunk) const { return static_cast<size_t>(chunk - data_) / kUnit; }

  char* data_;
  size_t size_;
  size_t capacity_;
  // Handle + 1; zero, which wraps to kNoChunk, where no chunk starts. From calloc, so that the entries of a large
  // region that nobody has used take no physical memory.
  std::unique_ptr<Handle, Deleter> handles_;
};

// The regions of an allocator, ordered by address.
class Regions {
 public:
  // Takes note of a new region and returns it.
  Region& Add(char* data, size_t size, size_t capacity);
  // Takes note that "more" bytes behind a region's end have become its own.
  void Grow(Region& region, size_t more);
  void Remove(const char* data);

  // The region that holds an address; nullptr if none does.
  Region* Find(const char* address);
  Region& last() { return list_.back(); }
  const Region* Find(const char* address) const { return const_cast<Regions*>(this)->Find(address); }

  size_t total_bytes() const { return total_bytes_; }
  const std::vector<Region>& list() const { return list_; }

 private:
  std::vector<Region> list_;
  size_t total_bytes_ = 0;
};

}  // namespace muster::bfc
