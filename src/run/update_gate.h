#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "run/channel.h"

namespace muster {

// What all devices of a replay agree on before the first of them updates a variable: that no interrupt ends the replay
// any more, and, if there is a guard, that it was finite. So either all devices update or none does. Used by all
// drivers of a replay at once, and by the threads of their streams; nothing allocates, and only Close locks.
class UpdateGate {
 public:
  // Thrown to a driver whose replay ends because the guard was not finite: not an error.
  struct Stopped {};

  explicit UpdateGate(size_t num_drivers);

  // Before each replay. "has_guard": AwaitVerdict waits for one. "num_meeting": so many calls of Enter wait for each
  // other; with 1 the first opens the gate for all.
  void Reopen(bool has_guard, size_t num_meeting);
  // By a driver before it enqueues its first update. Throws Stopped, or what Close was given.
  void AwaitVerdict(size_t driver);
  // When all that a device does before its first update is done, or failed with "failure" (null: it did not). Returns
  // when the replay can no longer be cancelled. Throws Error{Cancelled} if it was, or the first failure.
  void Enter(std::exception_ptr failure);
  // After an interrupt: whether the replay may end, as nobody has begun to update. If so, nobody will.
  bool MayCancel();
  // The guard was finite.
  void Pass();
  // Wakes those who wait. At most one call for each replay.
  void Close(std::exception_ptr error);

 private:
  enum State : int { kOpen, kUpdating, kCancelled, kFailed };

  bool Decide(State state);
  void Fail(std::exception_ptr error);

  std::atomic<int> state_{kOpen};
  std::atomic<size_t> met_{0};
  size_t num_meeting_ = 1;
  bool has_guard_ = false;
  std::vector<std::unique_ptr<Channel>> verdicts_;  // by driver
  std::mutex mutex_;
  std::exception_ptr failure_;  // written under the mutex before kFailed is
};

}  // namespace muster
