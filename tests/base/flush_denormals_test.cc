#include "base/flush_denormals.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace muster {
namespace {

// Half of the smallest normal number; volatile, so that the compiler does not compute it.
float HalfOfTheSmallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest / 2;
}

int ends = 0;
void CountEnd() { ++ends; }

// What is computed while denormals are zeros is compared afterwards: a comparison would take them for zeros too.
TEST(FlushDenormals, HoldsForItsScopeAndForThreadsThatBeginThere) {
#ifdef __SSE2__
  const float denormal = HalfOfTheSmallest();
  EXPECT_GT(denormal, 0);
  float within = 1, in_thread = 1;
  {
    const FlushDenormals flush;
    within = HalfOfTheSmallest();
    std::thread([&] { in_thread = HalfOfTheSmallest(); }).join();
  }
  EXPECT_EQ(within, 0);
  EXPECT_EQ(in_thread, 0);
  EXPECT_EQ(HalfOfTheSmallest(), denormal);
#endif
}

TEST(FlushDenormals, NestsAndSaysWhenTheOutermostHasEnded) {
  EXPECT_FALSE(FlushDenormals::IsOnThisThread());
  float within = 1;
  ends = 0;
  {
    const FlushDenormals outer;
    {
      const FlushDenormals inner;
      FlushDenormals::AtEnd(CountEnd);
    }
    within = HalfOfTheSmallest();
    EXPECT_EQ(ends, 0);
    std::thread([] { EXPECT_FALSE(FlushDenormals::IsOnThisThread()); }).join();
    EXPECT_TRUE(FlushDenormals::IsOnThisThread());
  }
  EXPECT_EQ(ends, 1);
  { const FlushDenormals another; }
  EXPECT_EQ(ends, 1);
#ifdef __SSE2__
  EXPECT_EQ(within, 0);
#endif
}

TEST(DenormalMode, GoesToAnotherThread) {
#ifdef __SSE2__
  const float denormal = HalfOfTheSmallest();
  float before = 0, after = 1;
  uint32_t flushing = 0;
  {
    const FlushDenormals flush;
    flushing = DenormalMode();
  }
  std::thread([&] {
    before = HalfOfTheSmallest();
    SetDenormalMode(flushing);
    after = HalfOfTheSmallest();
  }).join();
  EXPECT_EQ(before, denormal);
  EXPECT_EQ(after, 0);
  EXPECT_EQ(HalfOfTheSmallest(), denormal);
#endif
}

}  // namespace
}  // namespace muster
