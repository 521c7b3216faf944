#include "data/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "base/mutex.h"

namespace muster::data {
namespace {

constexpr int kMaxThreads = 16;

int NumThreads(int64_t count, int threads) {
  if (threads == 0) threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
  return static_cast<int>(std::clamp<int64_t>(count, 1, threads));
}

// What the threads share.
struct Shared {
  const std::function<void(int64_t)>& work;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> end;  // numbers from here on need no work: an earlier one failed
  Mutex mutex;
  std::exception_ptr error MUSTER_GUARDED_BY(mutex);

  void Fail(int64_t number, std::exception_ptr caught) {
    MutexLock lock(mutex);
    if (number >= end) return;
    end = number;
    error = std::move(caught);
  }
};

// Numbers are handed out in order, so whatever is before a failed one is being worked on and will be heard.
void Work(Shared* shared) {
  for (;;) {
    const int64_t number = shared->next++;
    if (number >= shared->end) return;
    try {
      ThrowIfInterrupted();
      shared->work(number);
    } catch (...) {
      shared->Fail(number, std::current_exception());
    }
  }
}

}  // namespace

void ParallelFor(int64_t count, int threads, const std::function<void(int64_t)>& work) {
  Shared shared{.work = work, .end = count};
  std::vector<std::thread> others;
  for (int i = 1; i < NumThreads(count, threads); ++i) others.emplace_back(Work, &shared);
  Work(&shared);
  for (std::thread& thread : others) thread.join();
  MutexLock lock(shared.mutex);
  if (shared.error) std::rethrow_exception(shared.error);
}

}  // namespace muster::data
