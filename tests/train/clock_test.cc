#include "train/clock.h"

#include <gtest/gtest.h>

namespace muster::train {

TEST(ProcessClock, CountsFromTheStartOfTheProcessForward) {
  const ProcessClock first;
  const double before = first.Seconds();
  EXPECT_GE(before, 0);
  EXPECT_LT(before, 3600);  // a test binary is younger than this
  const ProcessClock second;
  EXPECT_GE(second.Seconds(), before);
}

}  // namespace muster::train
