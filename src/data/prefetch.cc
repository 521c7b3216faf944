#include "data/prefetch.h"

#include <algorithm>

#include "base/clock.h"

namespace muster::data {

Prefetcher::Prefetcher(const BatchSource& source, const Options& options)
    : source_(source), next_(options.first), claimed_(options.first), consumed_(options.first) {
  const int depth = options.threads == 0 ? 1 : std::max(options.depth, 2);
  for (int i = 0; i < depth; ++i) slots_.push_back({source.Allocate(), false, nullptr});
  for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { Work(); });
}

Prefetcher::~Prefetcher() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  freed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

const Batch* Prefetcher::Next() {
  if (IsPastEnd(next_)) return nullptr;
  const double begin = SteadySeconds();
  ReleasePrevious();
  if (threads_.empty() && !IsReady(next_)) FillSlot(next_);
  Slot& slot = SlotOf(next_);
  {
    MutexLock lock(mutex_);
    while (!slot.ready) filled_.Wait(mutex_);
  }
  wait_seconds_ += SteadySeconds() - begin;
  if (slot.error) std::rethrow_exception(slot.error);  // next_ stays, so that the next call ends here too
  ++next_;
  return &slot.batch;
}

// Gives back the slot of the batch that the last call handed out, if any.
void Prefetcher::ReleasePrevious() {
  MutexLock lock(mutex_);
  if (consumed_ == next_) return;
  SlotOf(consumed_).ready = false;
  consumed_ = next_;
  freed_.NotifyOne();
}

bool Prefetcher::IsReady(int64_t number) {
  MutexLock lock(mutex_);
  return SlotOf(number).ready;
}

void Prefetcher::FillSlot(int64_t number) {
  Slot& slot = SlotOf(number);
  std::exception_ptr error;
  try {
    source_.Fill(number, &slot.batch);
  } catch (...) {
    error = std::current_exception();
  }
  MutexLock lock(mutex_);
  slot.error = error;
  slot.ready = true;
  filled_.NotifyOne();
}

void Prefetcher::Work() {
  for (;;) {
    int64_t number;
    {
      MutexLock lock(mutex_);
      while (!stop_ && !IsPastEnd(claimed_) && claimed_ >= consumed_ + static_cast<int64_t>(slots_.size())) freed_.Wait(mutex_);
      if (stop_ || IsPastEnd(claimed_)) return;
      number = claimed_++;
    }
    FillSlot(number);
  }
}

}  // namespace muster::data
