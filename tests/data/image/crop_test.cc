#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/image/crop.h"

namespace muster::data {
namespace {

constexpr Philox kStream(7, 1);

TEST(DrawCrop, StaysWithinItsBounds) {
  const ImageSize size{375, 500};
  double area_sum = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    RandomNumbers random(kStream, 0, i);
    const CropWindow window = DrawCrop(size, {}, {}, &random);
    ASSERT_TRUE(window.IsInside(size));
    const double area = static_cast<double>(window.height) * window.width / (375.0 * 500),
                 aspect = static_cast<double>(window.width) / window.height;
    EXPECT_GE(area, 0.0999);  // of the whole image, which is the object
    EXPECT_LE(area, 1);
    EXPECT_GT(aspect, 0.74);
    EXPECT_LT(aspect, 1.35);
    area_sum += area;
  }
  // Heights are uniform between the limits of area, so the mean area is about a third of the largest.
  EXPECT_NEAR(area_sum / 2000, 0.37, 0.06);
}

TEST(DrawCrop, CoversSomeOfAnObject) {
  const ImageSize size{300, 300};
  const Box boxes[] = {{0.8f, 0.8f, 1, 1}};
  int places = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    RandomNumbers random(kStream, 0, i);
    const CropWindow window = DrawCrop(size, boxes, {}, &random);
    const int below = std::max(0, window.y + window.height - 240), right = std::max(0, window.x + window.width - 240);
    EXPECT_GE(below * right, 360) << i;  // a tenth of the 60 x 60 pixels
    places += window.y > 0;
  }
  EXPECT_GT(places, 200);
}

TEST(DrawCrop, TakesTheWholeImageWhereNothingFits) {
  RandomNumbers random(kStream, 0, 0);
  EXPECT_EQ(DrawCrop({1, 32}, {}, {}, &random), (CropWindow{0, 0, 1, 32}));
}

TEST(DrawCrop, BoxesThatAreNoneDoNotCount) {
  const float nan = std::nanf("");
  const Box boxes[] = {
      {0.5f, 0.5f, 0.5f, 0.9f}, {0.9f, 0, 0.1f, 1}, {nan, nan, nan, nan}, {2, 2, 3, 3}, {-1, -1, -0.5f, -0.5f}};
  for (uint64_t i = 0; i < 50; ++i) {
    RandomNumbers random(kStream, 0, i), same(kStream, 0, i);
    EXPECT_EQ(DrawCrop({100, 80}, boxes, {}, &random), DrawCrop({100, 80}, {}, {}, &same));
  }
}

TEST(RandomNumbers, DependOnImageAndEpochAlone) {
  const auto first = [](uint64_t epoch, uint64_t image) { return RandomNumbers(kStream, epoch, image).Word(); };
  EXPECT_EQ(first(1, 2), first(1, 2));
  EXPECT_NE(first(1, 2), first(1, 3));
  EXPECT_NE(first(1, 2), first(2, 2));
  RandomNumbers random(kStream, 0, 0);
  int counts[3] = {0, 0, 0};
  for (int i = 0; i < 3000; ++i) ++counts[random.UniformInt(0, 3)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

}  // namespace
}  // namespace muster::data
