// How BfcAllocator takes regions from its source and gives them back.
#include <algorithm>
#include <new>

#include "memory/bfc_allocator.h"

namespace muster {

bool BfcAllocator::Extend(size_t rounded) {
  const size_t available = (options_.memory_limit - regions_.total_bytes()) / bfc::kUnit * bfc::kUnit;
  if (rounded > available) return false;

  bool doubled_for_this_request = false;
  while (rounded > next_region_size_) {
    next_region_size_ *= 2;
    doubled_for_this_request = true;
  }
  size_t taken = 0;
  char* data = TakeFromSource(std::min(next_region_size_, available), rounded, &taken);
  if (data == nullptr) return false;
  // Geometric growth: the number of regions stays logarithmic in what is used.
  if (!doubled_for_this_request) next_region_size_ *= 2;

  try {
    bfc::Region& region = regions_.Add(data, taken);
    const bfc::Handle handle = chunks_.New();
    chunks_[handle].data = data;
    chunks_[handle].size = taken;
    region.Set(data, handle);
    bins_.Insert(chunks_[handle], handle);
  } catch (const std::bad_alloc&) {
    // The host has no memory for our own records: the same as no region.
    if (regions_.Find(data) != nullptr) regions_.Remove(data);
    source_->Free(data, taken);
    return false;
  }
  stats_.bytes_reserved = static_cast<int64_t>(regions_.total_bytes());
  return true;
}

char* BfcAllocator::TakeFromSource(size_t wanted, size_t least, size_t* taken) {
  *taken = wanted;
  void* data = source_->Alloc(wanted);
  // Others may hold part of the device's memory, so that the limit cannot be had. Back off, but only once in the
  // allocator's life: by then the device is as good as full, and each try may be slow.
  if (data == nullptr && !has_backed_off_) {
    has_backed_off_ = true;
    while (data == nullptr) {
      *taken = *taken / 10 * 9 / bfc::kUnit * bfc::kUnit;
      if (*taken < least) break;
      data = source_->Alloc(*taken);
    }
  }
  return static_cast<char*>(data);
}

bool BfcAllocator::ReleaseFreeRegions(size_t rounded) {
  std::vector<bfc::Handle> whole;
  size_t bytes = 0;
  for (const bfc::Region& region : regions_.list()) {
    const bfc::Handle handle = region.Get(region.data());
    if (chunks_[handle].in_use() || chunks_[handle].size != region.size()) continue;
    whole.push_back(handle);
    bytes += region.size();
  }
  // Pointless if even then the limit would forbid the request.
  if (whole.empty() || options_.memory_limit - regions_.total_bytes() + bytes < rounded) return false;
  for (const bfc::Handle handle : whole) {
    const bfc::Chunk chunk = chunks_[handle];
    bins_.Remove(chunk, handle);
    chunks_.Delete(handle);
    regions_.Remove(chunk.data);
    source_->Free(chunk.data, chunk.size);
  }
  stats_.bytes_reserved = static_cast<int64_t>(regions_.total_bytes());
  return true;
}

}  // namespace muster
