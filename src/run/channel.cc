#include "run/channel.h"

#include <utility>

namespace muster {

void Channel::Post() {
  uint32_t expected = kEmpty;  // a closed channel stays closed
  state_.compare_exchange_strong(expected, kPosted, std::memory_order_acq_rel);
  state_.notify_one();
}

void Channel::Await() {
  state_.wait(kEmpty, std::memory_order_acquire);
  if (state_.load(std::memory_order_acquire) == kClosed) std::rethrow_exception(error_);
}

void Channel::Close(std::exception_ptr error) {
  error_ = std::move(error);
  state_.store(kClosed, std::memory_order_release);
  state_.notify_one();
}

}  // namespace muster
