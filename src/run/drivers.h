#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace muster {

// One thread per partition of a plan; they sleep between replays.
class Drivers {
 public:
  // Thread i calls start(i) once, and body(i) each round. Neither may throw.
  Drivers(size_t count, std::function<void(size_t)> start, std::function<void(size_t)> body);
  ~Drivers();
  Drivers(const Drivers&) = delete;
  Drivers& operator=(const Drivers&) = delete;

  // Starts a round and returns when all threads have finished it. Calls "poll" now and then meanwhile.
  void RunRound(const std::function<void()>& poll);

 private:
  void Loop(size_t index);
  void Stop();

  const std::function<void(size_t)> start_, body_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable has_begun_;     // a round, or the end of all
  std::condition_variable has_finished_;  // a round: told by its last thread, so that no thread wakes for nothing
  int64_t round_ = 0;                     // threads wait for it to rise,
  size_t finished_ = 0;                   // and count themselves in here
  bool is_stopping_ = false;
};

}  // namespace muster
