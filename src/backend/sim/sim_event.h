#pragma once

#include <cstdint>
#include <exception>

#include "backend/sim/hazard_checker.h"
#include "base/mutex.h"
#include "core/device.h"

namespace muster {

// An event of simulated streams. May be recorded again and again; a wait is for the recording before it. Work that
// never ran, because its stream had failed, hands its error on. Thread-safe.
class SimEvent final : public Event {
 public:
  // Blocks until what was last recorded is done; throws the error of a stream that failed before it.
  void Synchronize() override MUSTER_EXCLUDES(mutex_);

  // The number of a new recording, taken when it is enqueued; "clock" is for the hazard checker.
  int64_t Begin(VectorClock clock) MUSTER_EXCLUDES(mutex_);
  // The number of the last recording, 0 if there is none; "clock", unless null, receives what it stands for.
  int64_t Latest(VectorClock* clock) const MUSTER_EXCLUDES(mutex_);
  // The stream has come to this recording; "error" is what it failed with, if it did.
  void Complete(int64_t recording, std::exception_ptr error) MUSTER_EXCLUDES(mutex_);
  // Blocks until the stream has come to a recording; returns what it failed with.
  std::exception_ptr Await(int64_t recording) MUSTER_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  CondVar completed_changed_;
  int64_t begun_ MUSTER_GUARDED_BY(mutex_) = 0;
  int64_t completed_ MUSTER_GUARDED_BY(mutex_) = 0;
  std::exception_ptr error_ MUSTER_GUARDED_BY(mutex_);
  VectorClock clock_ MUSTER_GUARDED_BY(mutex_);
};

}  // namespace muster
