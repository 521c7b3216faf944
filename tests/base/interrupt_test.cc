#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace muster {
namespace {

// As a terminal or another program does it; a thread of the scope takes it in a moment.
void SendInterrupt() { ::kill(::getpid(), SIGINT); }

bool ComesToBeInterrupted() {
  for (int i = 0; i < 10000 && !Interrupted(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return Interrupted();
}

bool BlocksInterrupts() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGTERM) == 1;
}

TEST(Interrupt, TheFirstSignalOnlySetsAFlagThatEndsWithTheScope) {
  {
    InterruptScope scope;
    EXPECT_FALSE(Interrupted());
    SendInterrupt();
    EXPECT_TRUE(ComesToBeInterrupted());
  }
  EXPECT_FALSE(Interrupted());
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        InterruptScope scope;
        SendInterrupt();
        if (ComesToBeInterrupted()) SendInterrupt();
        std::this_thread::sleep_for(std::chrono::seconds(10));
      },
      ::testing::KilledBySignal(SIGINT), "");
}

// A signal's frame on the stack of a thread that runs one of oneDNN's kernels may overwrite the heap.
TEST(Interrupt, NoThreadThatComputesTakesTheSignals) {
  EXPECT_FALSE(BlocksInterrupts());
  {
    InterruptScope scope;
    EXPECT_TRUE(BlocksInterrupts());
    bool other_blocks = false;
    std::thread([&] { other_blocks = BlocksInterrupts(); }).join();
    EXPECT_TRUE(other_blocks);
  }
  EXPECT_FALSE(BlocksInterrupts());
}

}  // namespace
}  // namespace muster
