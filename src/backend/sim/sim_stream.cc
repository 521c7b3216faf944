#include "backend/sim/sim_stream.h"

#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/flush_denormals.h"
#include "muster/error.h"

namespace muster {

SimStream::SimStream(std::string name, std::shared_ptr<HazardChecker> hazards)
    : name_(std::move(name)), hazards_(std::move(hazards)), lane_(hazards_ != nullptr ? hazards_->AddLane(name_) : 0) {}

void SimStream::Enqueue(std::string_view what, std::span<const MemoryAccess> accesses, std::function<void()> run) {
  if (hazards_ != nullptr) hazards_->OnWork(lane_, what, accesses);
  Submit({.what = std::string(what), .run = std::move(run)});
}

void SimStream::Copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<int64_t>(bytes);
  const std::array accesses{MemoryAccess{from, size, false, "source"}, MemoryAccess{to, size, true, "target"}};
  Enqueue("copy", accesses, [=] { std::memcpy(to, from, bytes); });
}

void SimStream::Stamp(double* seconds) {
  Submit({.what = "stamp", .run = [seconds] { *seconds = SteadySeconds(); }});
}

void SimStream::Clear(void* to, size_t bytes) {
  if (bytes == 0) return;
  const std::array accesses{MemoryAccess{to, static_cast<int64_t>(bytes), true, "target"}};
  Enqueue("clear", accesses, [=] { std::memset(to, 0, bytes); });
}

void SimStream::Record(Event* event) {
  auto* const sim = dynamic_cast<SimEvent*>(event);
  MUSTER_CHECK(sim != nullptr);
  const int64_t recording = sim->Begin(hazards_ != nullptr ? hazards_->OnRecord(lane_) : VectorClock{});
  Submit({.complete = sim, .recording = recording});
}

void SimStream::Wait(Event* event) {
  auto* const sim = dynamic_cast<SimEvent*>(event);
  if (sim == nullptr) return event->Synchronize();
  VectorClock clock;
  const int64_t recording = sim->Latest(&clock);
  if (hazards_ != nullptr) hazards_->OnWait(lane_, clock);
  Submit({.await = sim, .recording = recording});
}

void SimStream::Synchronize() {
  const std::exception_ptr failure = Drain();
  if (hazards_ != nullptr) hazards_->OnHostWait(lane_);
  if (failure != nullptr) std::rethrow_exception(failure);
}

ThreadStream::ThreadStream(std::string name, const SimSettings& settings)
    : SimStream(name, settings.hazards),
      has_delays_(settings.delay_seed != 0),
      random_(settings.delay_seed ^ std::hash<std::string>{}(name)) {}

ThreadStream::~ThreadStream() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void ThreadStream::Submit(Work work) {
  MutexLock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  queue_.push_back(std::move(work));
  changed_.NotifyAll();
}

std::exception_ptr ThreadStream::Drain() {
  MutexLock lock(mutex_);
  while (!queue_.empty() || is_busy_) changed_.Wait(mutex_);
  return std::exchange(failure_, nullptr);
}

bool ThreadStream::WaitFor(double seconds) {
  const auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  MutexLock lock(mutex_);
  while (!queue_.empty() || is_busy_)
    if (!changed_.WaitUntil(mutex_, deadline)) return queue_.empty() && !is_busy_;
  return true;
}

// An idle stream stays as it is: nobody would ask it for the error.
void ThreadStream::Abandon(std::exception_ptr error) {
  MutexLock lock(mutex_);
  if (failure_ == nullptr && (!queue_.empty() || is_busy_)) failure_ = std::move(error);
}

void ThreadStream::Loop() {
  const FlushDenormals flush;  // kernels run here; the thread that enqueues them flushes on its own account
  for (;;) {
    Work work;
    std::exception_ptr failure;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !is_stopping_) changed_.Wait(mutex_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
      is_busy_ = true;
      failure = failure_;
    }
    if (has_delays_) Delay();
    failure = Perform(work, failure);
    work = {};  // what the function holds goes before anybody is told
    MutexLock lock(mutex_);
    if (failure_ == nullptr) failure_ = failure;
    is_busy_ = false;
    if (queue_.empty()) changed_.NotifyAll();
  }
}

std::exception_ptr ThreadStream::Perform(const Work& work, std::exception_ptr failure) {
  if (work.complete != nullptr) {
    work.complete->Complete(work.recording, failure);
  } else if (work.await != nullptr) {
    const std::exception_ptr theirs = work.await->Await(work.recording);
    if (failure == nullptr) failure = theirs;
  } else if (work.decide || failure == nullptr) {
    try {
      if (work.decide) work.decide(failure);
      else RunNamed(work);
    } catch (...) {
      if (failure == nullptr) failure = std::current_exception();
    }
  }
  return failure;
}

void ThreadStream::RunNamed(const Work& work) const {
  try {
    work.run();
  } catch (const Error& error) {
    throw error.Within(fmt::format("{}, {}", work.what, name()));
  } catch (const std::exception& error) {
    throw Internal(error.what()).Within(fmt::format("{}, {}", work.what, name()));
  }
}

// Half of the work starts at once, the rest up to a tenth of a millisecond later.
void ThreadStream::Delay() {
  const uint64_t word = random_();
  if (word % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds((word >> 1) % 100));
}

void CheckedInlineStream::Submit(Work work) {
  if (work.run) return work.run();
  if (work.complete != nullptr) return work.complete->Complete(work.recording, nullptr);
  if (std::exception_ptr failure = work.await->Await(work.recording)) std::rethrow_exception(failure);
}

}  // namespace muster
