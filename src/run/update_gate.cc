#include "run/update_gate.h"

#include <utility>

#include "muster/error.h"

namespace muster {

UpdateGate::UpdateGate(size_t num_drivers) {
  for (size_t d = 0; d < num_drivers; ++d) verdicts_.push_back(std::make_unique<Channel>());
}

void UpdateGate::Reopen(bool has_guard, size_t num_meeting) {
  state_.store(kOpen, std::memory_order_relaxed);
  met_.store(0, std::memory_order_relaxed);
  num_meeting_ = num_meeting;
  has_guard_ = has_guard;
  failure_ = nullptr;
  for (auto& verdict : verdicts_) verdict->Reopen();
}

void UpdateGate::AwaitVerdict(size_t driver) {
  if (has_guard_) verdicts_[driver]->Await();
}

// True for the call that ends the waiting.
bool UpdateGate::Decide(State state) {
  int expected = kOpen;
  if (!state_.compare_exchange_strong(expected, state, std::memory_order_acq_rel)) return false;
  state_.notify_all();
  return true;
}

void UpdateGate::Enter(std::exception_ptr failure) {
  if (failure != nullptr) Fail(failure);
  else if (met_.fetch_add(1) + 1 >= num_meeting_) Decide(kUpdating);
  state_.wait(kOpen, std::memory_order_acquire);
  switch (state_.load(std::memory_order_acquire)) {
    case kCancelled: throw Error(Code::kCancelled, "interrupted");
    case kFailed: std::rethrow_exception(failure_);
    default: return;
  }
}

bool UpdateGate::MayCancel() { return Decide(kCancelled) || state_.load(std::memory_order_acquire) == kCancelled; }

void UpdateGate::Pass() {
  for (auto& verdict : verdicts_) verdict->Post();
}

void UpdateGate::Fail(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  if (failure_ != nullptr) return;
  failure_ = std::move(error);
  Decide(kFailed);
}

void UpdateGate::Close(std::exception_ptr error) {
  Fail(error);
  for (auto& verdict : verdicts_) verdict->Close(error);
}

}  // namespace muster
