#include "muster/shape.h"

#include <gtest/gtest.h>

#include "muster/error.h"

namespace muster {

TEST(Shape, PrintsAsTensorFlowDoes) {
  EXPECT_EQ((Shape{2, 3}).ToString(), "[2,3]");
  EXPECT_EQ(Shape().ToString(), "[]");
}

TEST(Shape, BroadcastsFromTheRight) { EXPECT_EQ(BroadcastShapes({3, 4, 5}, {4, 1}), (Shape{3, 4, 5})); }

TEST(Shape, BroadcastErrorNamesBothShapes) {
  try {
    BroadcastShapes({3, 4}, {5});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "shapes [3,4] and [5] do not broadcast");
  }
}

}  // namespace muster
