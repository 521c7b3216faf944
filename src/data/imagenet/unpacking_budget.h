#pragma once

#include <cstdint>
#include <limits>

#include "base/mutex.h"
#include "base/system_memory.h"

namespace muster::data {

// The memory that packed files may take together, whatever number of threads unpacks them. Any number of threads may
// call.
class UnpackingBudget {
 public:
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
  explicit UnpackingBudget(uint64_t bytes) : size_(bytes) {}
  // Half of what is free, since strings that grow are in memory twice for a moment; unlimited if that is not known.
  explicit UnpackingBudget(const SystemMemory& memory);

  // Takes so much. False, and nothing is taken: it is not left.
  bool Take(uint64_t bytes);
  // Waits until others have given back what is missing. False at once if the whole budget is less. Who waits must hold
  // nothing of it.
  bool Wait(uint64_t bytes);
  void GiveBack(uint64_t bytes);

 private:
  bool IsLeft(uint64_t bytes) const MUSTER_REQUIRES(mutex_) { return bytes <= size_ - taken_; }

  const uint64_t size_;
  Mutex mutex_;
  CondVar given_back_;
  uint64_t taken_ MUSTER_GUARDED_BY(mutex_) = 0;
};

}  // namespace muster::data
