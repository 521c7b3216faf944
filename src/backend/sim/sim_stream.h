#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>

#include "backend/sim/hazard_checker.h"
#include "backend/sim/sim_event.h"
#include "base/mutex.h"
#include "core/device.h"

namespace muster {

// What the simulated devices of a session share.
struct SimSettings {
  uint64_t delay_seed = 0;                 // 0: no delays
  std::shared_ptr<HazardChecker> hazards;  // null: accesses are not checked
};

// A stream whose work is functions on host memory. What is enqueued says which bytes it touches, and is checked at
// once; where and when it runs is for the two classes below.
class SimStream : public Stream {
 public:
  SimStream(std::string name, std::shared_ptr<HazardChecker> hazards);

  // "what" names the work in messages. Throws Internal if an access is a hazard; then nothing is enqueued.
  void Enqueue(std::string_view what, std::span<const MemoryAccess> accesses, std::function<void()> run);

  // Events are SimEvents; an event of another kind of device is waited for by the calling thread.
  void Record(Event* event) final;
  void Wait(Event* event) final;
  void Synchronize() final;
  void Stamp(double* seconds) final;
  void Copy(void* to, const void* from, size_t bytes) final;
  void Clear(void* to, size_t bytes) final;

  const std::string& name() const { return name_; }

 protected:
  // One entry of the queue: a function to run, one that decides on what comes behind, or an event to complete or to
  // wait for.
  struct Work {
    std::string what;
    std::function<void()> run;
    std::function<void(std::exception_ptr)> decide;
    SimEvent* complete = nullptr;
    SimEvent* await = nullptr;
    int64_t recording = 0;
  };
  virtual void Submit(Work work) = 0;
  // Blocks until everything submitted is done; returns the first error since the last call.
  virtual std::exception_ptr Drain() = 0;

 private:
  const std::string name_;
  const std::shared_ptr<HazardChecker> hazards_;
  const int lane_;
};

// Asynchronous: a thread of its own, started by the first piece of work. Once something failed, later work is skipped
// and events carry the error on, until Synchronize has reported it.
class ThreadStream final : public SimStream {
 public:
  ThreadStream(std::string name, const SimSettings& settings);
  ~ThreadStream() override;

  bool WaitFor(double seconds) override MUSTER_EXCLUDES(mutex_);
  void Decide(const std::function<void(std::exception_ptr)>& decide) override { Submit({.decide = decide}); }
  void Abandon(std::exception_ptr error) override MUSTER_EXCLUDES(mutex_);

 private:
  void Submit(Work work) override MUSTER_EXCLUDES(mutex_);
  std::exception_ptr Drain() override MUSTER_EXCLUDES(mutex_);
  void Loop() MUSTER_EXCLUDES(mutex_);
  std::exception_ptr Perform(const Work& work, std::exception_ptr failure);
  // Runs a function, with the name of the work and of the stream added to its error.
  void RunNamed(const Work& work) const;
  void Delay();

  const bool has_delays_;
  std::mt19937_64 random_;  // the thread's
  Mutex mutex_;
  CondVar changed_;
  std::deque<Work> queue_ MUSTER_GUARDED_BY(mutex_);
  bool is_busy_ MUSTER_GUARDED_BY(mutex_) = false;
  bool is_stopping_ MUSTER_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ MUSTER_GUARDED_BY(mutex_);
  std::thread thread_;
};

// Synchronous: work runs in the call that enqueues it, as on the CPU's stream, but is checked.
class CheckedInlineStream final : public SimStream {
 public:
  using SimStream::SimStream;

 private:
  void Submit(Work work) override;
  std::exception_ptr Drain() override { return nullptr; }
};

}  // namespace muster
