// How BfcAllocator takes regions from its source and gives them back.
#include <algorithm>
#include <new>

#include "memory/bfc_allocator.h"

namespace muster {

bool BfcAllocator::Extend(size_t rounded) {
  if (options_.allow_growth && options_.grow_in_place && regions_.list().empty()) grows_in_place_ = ReserveRegion();
  if (grows_in_place_) return ExtendInPlace(rounded);
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
    bfc::Region& region = regions_.Add(data, taken, taken);
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

bool BfcAllocator::ReserveRegion() {
  const size_t most = options_.memory_limit / bfc::kUnit * bfc::kUnit;
  auto* data = static_cast<char*>(source_->Reserve(most));
  if (data == nullptr) return false;
  try {
    regions_.Add(data, 0, most);
    return true;
  } catch (const std::bad_alloc&) {
    source_->Free(data, most);
    return false;
  }
}

bool BfcAllocator::ExtendInPlace(size_t rounded) {
  bfc::Region& region = regions_.last();
  const size_t available = region.capacity() - region.size();
  const bfc::Handle last = LastChunkOf(region);
  const bool has_free_end = last != bfc::kNoChunk && !chunks_[last].in_use();
  const size_t needed = rounded - (has_free_end ? chunks_[last].size : 0);
  if (needed > available) return false;
  size_t more = std::min(std::max(needed, next_region_size_ / bfc::kUnit * bfc::kUnit), available);
  if (!source_->Grow(region.data(), region.size(), more)) {
    more = needed;
    if (!source_->Grow(region.data(), region.size(), more)) return false;
  }
  next_region_size_ *= 2;
  char* const start = region.end();
  const bfc::Handle handle = chunks_.New();
  regions_.Grow(region, more);
  bfc::Chunk& chunk = chunks_[handle];
  chunk.data = start;
  chunk.size = more;
  chunk.previous = last;
  if (last != bfc::kNoChunk) chunks_[last].next = handle;
  region.Set(start, handle);
  const bfc::Handle merged = MergeWithNeighbours(handle);
  bins_.Insert(chunks_[merged], merged);
  stats_.bytes_reserved = static_cast<int64_t>(regions_.total_bytes());
  return true;
}

bfc::Handle BfcAllocator::LastChunkOf(const bfc::Region& region) const {
  if (region.size() == 0) return bfc::kNoChunk;
  bfc::Handle last = region.Get(region.data());
  while (chunks_[last].next != bfc::kNoChunk) last = chunks_[last].next;
  return last;
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
    if (region.size() < region.capacity()) continue;  // can still grow
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
