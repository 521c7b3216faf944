#include "base/bytes.h"

#include <gtest/gtest.h>

namespace muster {

TEST(Bytes, PrintWithTwoDecimalsInBinaryUnits) {
  EXPECT_EQ(HumanBytes(0), "0B");
  EXPECT_EQ(HumanBytes(1023), "1023B");
  EXPECT_EQ(HumanBytes(1024), "1.00KiB");
  EXPECT_EQ(HumanBytes(1536 * kMiB), "1.50GiB");
  EXPECT_EQ(HumanBytes(kMiB - 1), "1.00MiB");  // not 1024.00KiB
  EXPECT_EQ(HumanBytes(-2 * kKiB), "-2.00KiB");
  EXPECT_EQ(HumanBytes(INT64_MAX), "8.00EiB");
}

TEST(Bytes, RoundUpToAPowerOfTwo) {
  EXPECT_EQ(RoundUp(0, 64), 0);
  EXPECT_EQ(RoundUp(1, 64), 64);
  EXPECT_EQ(RoundUp(64, 64), 64);
}

}  // namespace muster
