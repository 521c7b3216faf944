#include "run/update_gate.h"

#include "muster/error.h"

namespace muster {

UpdateGate::UpdateGate(size_t num_drivers) {
  for (size_t d = 0; d < num_drivers; ++d) verdicts_.push_back(std::make_unique<Channel>());
}

void UpdateGate::Reopen(bool has_guard) {
  state_.store(kOpen, std::memory_order_relaxed);
  has_guard_ = has_guard;
  for (auto& verdict : verdicts_) verdict->Reopen();
}

void UpdateGate::Enter(size_t driver) {
  if (has_guard_) verdicts_[driver]->Await();
  int expected = kOpen;
  if (!state_.compare_exchange_strong(expected, kUpdating) && expected == kCancelled) throw Error(Code::kCancelled, "interrupted");
}

bool UpdateGate::MayCancel() {
  int expected = kOpen;
  return state_.compare_exchange_strong(expected, kCancelled) || expected == kCancelled;
}

void UpdateGate::Pass() {
  for (auto& verdict : verdicts_) verdict->Post();
}

void UpdateGate::Close(std::exception_ptr error) {
  for (auto& verdict : verdicts_) verdict->Close(error);
}

}  // namespace muster
