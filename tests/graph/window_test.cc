#include "graph/ops/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/error_message.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Expected values: the rules of TensorFlow's "convolution" notes, worked out by hand.
TEST(Window, SameCoversTheInputAndPadsTheSmallerHalfBefore) {
  // 224 in, 7 wide, stride 2: ResNet's first convolution.
  WindowAxis a = SlideWindow("height", 224, 7, 2, 1, Padding::kSame);
  EXPECT_EQ(a.output, 112);
  EXPECT_EQ(a.pad_before, 2);
  EXPECT_EQ(a.pad_after, 3);
  // 56 in, 3 wide, stride 2: nothing before, one after.
  a = SlideWindow("height", 56, 3, 2, 1, Padding::kSame);
  EXPECT_EQ(a.output, 28);
  EXPECT_EQ(a.pad_before, 0);
  EXPECT_EQ(a.pad_after, 1);
  // A stride that skips more than the window needs no padding at all.
  a = SlideWindow("height", 9, 1, 2, 1, Padding::kSame);
  EXPECT_EQ(a.output, 5);
  EXPECT_EQ(a.pad_before + a.pad_after, 0);
}

TEST(Window, DilationWidensTheWindow) {
  WindowAxis a = SlideWindow("width", 10, 3, 1, 2, Padding::kSame);
  EXPECT_EQ(a.extent(), 5);
  EXPECT_EQ(a.output, 10);
  EXPECT_EQ(a.pad_before, 2);
  EXPECT_EQ(a.pad_after, 2);
  a = SlideWindow("width", 10, 3, 2, 2, Padding::kValid);
  EXPECT_EQ(a.output, 3);
}

TEST(Window, ValidDropsWhatDoesNotFillAWindow) {
  EXPECT_EQ(SlideWindow("height", 8, 3, 2, 1, Padding::kValid).output, 3);
  EXPECT_EQ(SlideWindow("height", 227, 11, 4, 1, Padding::kValid).output, 55);
}

TEST(Window, ExplicitPaddingFollowsTheFloorRule) {
  // ResNet's own padding of its first convolution: 3 on both sides of 224.
  const WindowAxis a = SlideWindow("height", 224, 7, 2, 1, Padding::kExplicit, 3, 3);
  EXPECT_EQ(a.output, 112);
  EXPECT_EQ(a.pad_before, 3);
  EXPECT_EQ(a.Cell(0, 0), -3);
  EXPECT_EQ(a.Cell(111, 6), 225);
}

TEST(Window, RefusesWhatCannotSlide) {
  EXPECT_EQ(testing::ErrorMessage([] { SlideWindow("height", 2, 3, 1, 1, Padding::kValid); }),
            "the window's height of 3 does not fit into 2 (padding VALID)");
  EXPECT_THAT(testing::ErrorMessage([] { SlideWindow("width", 2, 1, 0, 1, Padding::kSame); }), HasSubstr("stride 0"));
  EXPECT_THAT(testing::ErrorMessage([] { SlideWindow("width", 2, 1, 1, 1, Padding::kExplicit, -1, 0); }),
              HasSubstr("paddings cannot be negative"));
  EXPECT_EQ(testing::ErrorMessage([] { SlideWindow("width", 0, 1, 1, 1, Padding::kSame); }), "the input's width is 0");
}

TEST(Window, DepthwiseIsOneGroupForEachChannel) {
  const ConvGeometry g = DepthwiseGeometry({2, 8, 8, 4}, {3, 3, 4, 2}, {});
  EXPECT_EQ(g.groups, 4);
  EXPECT_EQ(g.group_in(), 1);
  EXPECT_EQ(g.group_out(), 2);
  EXPECT_EQ(g.out_channels, 8);
}

TEST(Window, PoolingPadsLessThanItsWindow) {
  PoolAttrs attrs{.ksize = {2, 2}, .strides = {2, 2}, .padding = Padding::kExplicit, .explicit_paddings = {2, 0, 0, 0}};
  EXPECT_THAT(testing::ErrorMessage([&] {
                PoolGeometryOf({1, 4, 4, 1}, attrs);
              }),
              HasSubstr("must be smaller than its window"));
}

}  // namespace
}  // namespace muster
