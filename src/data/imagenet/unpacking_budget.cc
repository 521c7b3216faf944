#include "data/imagenet/unpacking_budget.h"

#include "base/check.h"

namespace muster::data {

UnpackingBudget::UnpackingBudget(const SystemMemory& memory)
    : size_(memory.free() ? static_cast<uint64_t>(*memory.free()) / 2 : kUnlimited) {}

bool UnpackingBudget::Take(uint64_t bytes) {
  MutexLock lock(mutex_);
  if (!IsLeft(bytes)) return false;
  taken_ += bytes;
  return true;
}

bool UnpackingBudget::Wait(uint64_t bytes) {
  if (bytes > size_) return false;
  MutexLock lock(mutex_);
  while (!IsLeft(bytes)) given_back_.Wait(mutex_);
  taken_ += bytes;
  return true;
}

void UnpackingBudget::GiveBack(uint64_t bytes) {
  MutexLock lock(mutex_);
  MUSTER_CHECK(bytes <= taken_);
  taken_ -= bytes;
  given_back_.NotifyAll();
}

}  // namespace muster::data
