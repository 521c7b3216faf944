#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace muster {
namespace {

TEST(Interrupt, TheFirstSignalOnlySetsAFlagThatEndsWithTheScope) {
  {
    InterruptScope scope;
    EXPECT_FALSE(Interrupted());
    ::raise(SIGINT);
    EXPECT_TRUE(Interrupted());
  }
  EXPECT_FALSE(Interrupted());
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        InterruptScope scope;
        ::raise(SIGINT);
        ::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace muster
