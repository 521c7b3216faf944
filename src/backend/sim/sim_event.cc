#include "backend/sim/sim_event.h"

namespace muster {

void SimEvent::Synchronize() {
  if (std::exception_ptr error = Await(Latest(nullptr))) std::rethrow_exception(error);
}

int64_t SimEvent::Begin(VectorClock clock) {
  MutexLock lock(mutex_);
  clock_ = std::move(clock);
  return ++begun_;
}

int64_t SimEvent::Latest(VectorClock* clock) const {
  MutexLock lock(mutex_);
  if (clock != nullptr) *clock = clock_;
  return begun_;
}

void SimEvent::Complete(int64_t recording, std::exception_ptr error) {
  MutexLock lock(mutex_);
  completed_ = recording;
  error_ = std::move(error);
  completed_changed_.NotifyAll();
}

std::exception_ptr SimEvent::Await(int64_t recording) {
  MutexLock lock(mutex_);
  while (completed_ < recording) completed_changed_.Wait(mutex_);
  return error_;
}

}  // namespace muster
