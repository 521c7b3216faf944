#include "data/pad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/pipeline.h"
#include "tests/data/error_of.h"
#include "tests/data/made_up_dataset.h"

namespace muster::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Elements 1, 2, 3 ... of every image.
std::unique_ptr<Dataset> Counting(Shape shape) {
  return std::make_unique<MadeUpDataset>(4, shape, [](int64_t, int64_t i) { return static_cast<float>(i + 1); });
}

std::vector<float> ImageOf(const Dataset& dataset, int64_t index) {
  std::vector<float> image(static_cast<size_t>(dataset.image_elements()), -1.0f);
  EXPECT_EQ(dataset.Get(index, 0, image), index);
  return image;
}

TEST(Pad, TheImageLiesInTheMiddleAndOddRestsBelowAndRight) {
  EXPECT_THAT(ImageOf(*Pad(Counting({1, 2, 1}), 3), 2), ElementsAre(0, 0, 0, 1, 2, 0, 0, 0, 0));
  EXPECT_THAT(ImageOf(*Pad(Counting({2, 2, 1}), 4), 0), ElementsAre(0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0));
  EXPECT_THAT(ImageOf(*Pad(Counting({2, 1, 2}), 2), 1), ElementsAre(1, 2, 0, 0, 3, 4, 0, 0));
  EXPECT_EQ(Pad(Counting({2, 2, 3}), 5)->image_shape(), (Shape{5, 5, 3}));
}

TEST(Pad, ImagesOfTheSizeStayAndLargerOnesAreRefused) {
  EXPECT_THAT(ImageOf(*Pad(Counting({2, 2, 1}), 2), 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ErrorOf([] {
                Pad(Counting({3, 2, 1}), 2);
              }),
              HasSubstr("--pad_to=2: the images have 3x2 pixels; at least 3 was expected"));
}

// Black is what the padding is, whatever the pixels are scaled to.
TEST(Pad, ComesBeforeScalingInThePipeline) {
  TrainTest raw{Counting({1, 1, 1}), Counting({1, 1, 1})};
  const TrainTest padded = BuildPipeline(std::move(raw), {.pad_to = 2, .scaling = Scaling::kStandardize});
  const std::vector<float> image = ImageOf(*padded.test, 0);
  EXPECT_GT(image[0], 0);
  for (size_t i = 1; i < 4; ++i) EXPECT_LT(image[i], 0);
  EXPECT_NEAR(image[0] + image[1] + image[2] + image[3], 0, 1e-5);
  EXPECT_EQ(ImageOf(*padded.train, 0), image);
}

}  // namespace
}  // namespace muster::data
