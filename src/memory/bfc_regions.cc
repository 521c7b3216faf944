#include "memory/bfc_regions.h"

#include <algorithm>
#include <new>

#include "base/check.h"

namespace muster::bfc {

Region::Region(char* data, size_t size, size_t capacity)
    : data_(data),
      size_(size),
      capacity_(capacity),
      handles_(static_cast<Handle*>(std::calloc(capacity / kUnit, sizeof(Handle)))) {
  if (handles_ == nullptr) throw std::bad_alloc();
}

Region& Regions::Add(char* data, size_t size, size_t capacity) {
  const auto place = std::lower_bound(list_.begin(), list_.end(), data,
                                      [](const Region& region, const char* start) { return region.data() < start; });
  const auto added = list_.insert(place, Region(data, size, capacity));
  total_bytes_ += size;
  return *added;
}

void Regions::Grow(Region& region, size_t more) {
  MUSTER_CHECK(region.size_ + more <= region.capacity_);
  region.size_ += more;
  total_bytes_ += more;
}

void Regions::Remove(const char* data) {
  Region* region = Find(data);
  MUSTER_CHECK(region != nullptr && region->data() == data);
  total_bytes_ -= region->size();
  list_.erase(list_.begin() + (region - list_.data()));
}

Region* Regions::Find(const char* address) {
  // The first region that ends behind the address is the only one that can hold it.
  const auto found = std::upper_bound(list_.begin(), list_.end(), address,
                                      [](const char* wanted, const Region& region) { return wanted < region.end(); });
  return found != list_.end() && found->data() <= address ? &*found : nullptr;
}

}  // namespace muster::bfc
