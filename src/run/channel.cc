#include "run/channel.h"

#include <cstring>

namespace muster {

void Channel::Send(const void* data) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_full_ || error_ != nullptr; });
  ThrowIfClosed();
  std::memcpy(buffer_.data(), data, buffer_.size());
  is_full_ = true;
  changed_.notify_all();
}

void Channel::Receive(void* data) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_full_ || error_ != nullptr; });
  ThrowIfClosed();
  std::memcpy(data, buffer_.data(), buffer_.size());
  is_full_ = false;
  changed_.notify_all();
}

void Channel::Reopen() {
  std::lock_guard lock(mutex_);
  is_full_ = false;
  error_ = nullptr;
}

void Channel::Close(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  if (error_ == nullptr) error_ = std::move(error);
  changed_.notify_all();
}

void Channel::ThrowIfClosed() {
  if (error_ != nullptr) std::rethrow_exception(error_);
}

}  // namespace muster
