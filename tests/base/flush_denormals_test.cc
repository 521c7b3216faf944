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

TEST(FlushDenormals, HoldsForItsScopeAndForThreadsThatBeginThere) {
#ifdef __SSE2__
  const float denormal = HalfOfTheSmallest();
  EXPECT_GT(denormal, 0);
  {
    const FlushDenormals flush;
    EXPECT_EQ(HalfOfTheSmallest(), 0);
    float in_thread = 1;
    std::thread([&] { in_thread = HalfOfTheSmallest(); }).join();
    EXPECT_EQ(in_thread, 0);
  }
  EXPECT_EQ(HalfOfTheSmallest(), denormal);
#endif
}

}  // namespace
}  // namespace muster
