#include "base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace muster {

TEST(Mutex, CountsOfManyThreadsAddUp) {
  Mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4000);
}

TEST(CondVar, WakesAWaiterAndHoldsTheMutexAgain) {
  Mutex mutex;
  CondVar changed;
  bool ready = false;
  std::thread other([&] {
    MutexLock lock(mutex);
    ready = true;
    changed.NotifyAll();
  });
  mutex.Lock();
  while (!ready) changed.Wait(mutex);
  EXPECT_TRUE(ready);
  mutex.Unlock();
  other.join();
}

TEST(CondVar, AWaitEndsAtItsDeadline) {
  Mutex mutex;
  CondVar changed;
  MutexLock lock(mutex);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (changed.WaitUntil(mutex, deadline)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

}  // namespace muster
