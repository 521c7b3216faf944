#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "run/channel.h"

namespace muster {

// What all drivers of a replay agree on before the first of them updates a variable: that no interrupt ends the replay any more,
// and, if there is a guard, that it was finite. So either all devices apply their gradients or none does. (Updates that no gradient
// goes into, as those of moving averages, do not wait here: they may have run in a step that was stopped.) Used by all drivers
// of a replay at once; neither locks nor allocates.
class UpdateGate {
 public:
  // Thrown to a driver whose replay ends because the guard was not finite: not an error.
  struct Stopped {};

  explicit UpdateGate(size_t num_drivers);

  // Before each replay. "has_guard": Enter waits for a verdict.
  void Reopen(bool has_guard);
  // By a driver before its first update. Throws Stopped, Error{Cancelled} after an interrupt, or what Close was given.
  void Enter(size_t driver);
  // By a driver that was interrupted: whether the replay may end, as nobody has begun to update.
  bool MayCancel();
  // The guard was finite.
  void Pass();
  // Wakes those who wait. At most one call for each replay.
  void Close(std::exception_ptr error);

 private:
  enum State : int { kOpen, kUpdating, kCancelled };

  std::atomic<int> state_{kOpen};
  bool has_guard_ = false;
  std::vector<std::unique_ptr<Channel>> verdicts_;  // by driver
};

}  // namespace muster
