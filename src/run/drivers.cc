#include "run/drivers.h"

#include <chrono>

#include "base/flush_denormals.h"

namespace muster {
namespace {

constexpr std::chrono::milliseconds kPollEvery(20);

}  // namespace

Drivers::Drivers(size_t count, std::function<void(size_t)> start, std::function<void(size_t)> body)
    : start_(std::move(start)), body_(std::move(body)) {
  try {
    for (size_t i = 0; i < count; ++i) threads_.emplace_back([this, i] { Loop(i); });
  } catch (...) {
    Stop();
    throw;
  }
}

Drivers::~Drivers() { Stop(); }

void Drivers::Stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    has_begun_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Drivers::RunRound(const std::function<void()>& poll) {
  std::unique_lock lock(mutex_);
  finished_ = 0;
  ++round_;
  has_begun_.notify_all();
  while (!has_finished_.wait_for(lock, kPollEvery, [this] { return finished_ == threads_.size(); })) {
    lock.unlock();
    poll();
    lock.lock();
  }
}

void Drivers::Loop(size_t index) {
  const FlushDenormals flush;  // from here on, so that its OpenMP team is told once and not in every round
  start_(index);
  int64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      has_begun_.wait(lock, [&] { return round_ > seen || is_stopping_; });
      if (is_stopping_) return;
      seen = round_;
    }
    body_(index);
    std::lock_guard lock(mutex_);
    if (++finished_ == threads_.size()) has_finished_.notify_one();
  }
}

}  // namespace muster
