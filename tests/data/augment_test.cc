#include "data/augment.h"

#include <map>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/normalize.h"
#include "data/pad.h"
#include "data/pipeline.h"
#include "muster/error.h"
#include "tests/data/made_up_dataset.h"

namespace muster::data {
namespace {

using ::testing::ElementsAre;

TEST(Augment, FlipMirrorsColumnsAndKeepsChannelsTogether) {
  std::vector<float> image{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  FlipLeftRight(image, {2, 3, 2});
  EXPECT_THAT(image, ElementsAre(5, 6, 3, 4, 1, 2, 11, 12, 9, 10, 7, 8));
}

// The value of a shifted image from its definition, pixel by pixel.
std::vector<float> ShiftByDefinition(const std::vector<float>& image, const Shape& shape, int64_t down, int64_t right) {
  std::vector<float> shifted(image.size(), 0.0f);
  for (int64_t y = 0; y < shape[0]; ++y)
    for (int64_t x = 0; x < shape[1]; ++x)
      for (int64_t c = 0; c < shape[2]; ++c) {
        const int64_t from_y = y - down, from_x = x - right;
        if (from_y < 0 || from_y >= shape[0] || from_x < 0 || from_x >= shape[1]) continue;
        shifted[static_cast<size_t>((y * shape[1] + x) * shape[2] + c)] =
            image[static_cast<size_t>((from_y * shape[1] + from_x) * shape[2] + c)];
      }
  return shifted;
}

TEST(Augment, ShiftInPlaceEqualsItsDefinitionForEveryDistance) {
  const Shape shape{4, 3, 2};
  std::vector<float> image(24);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i + 1);
  for (int64_t down = -5; down <= 5; ++down)
    for (int64_t right = -4; right <= 4; ++right) {
      std::vector<float> shifted = image;
      Shift(shifted, shape, down, right);
      EXPECT_EQ(shifted, ShiftByDefinition(image, shape, down, right)) << down << " " << right;
    }
}

std::unique_ptr<Dataset> OneDot(int64_t size) {
  return std::make_unique<MadeUpDataset>(size, Shape{7, 7, 1},
                                         [](int64_t, int64_t i) { return i == 3 * 7 + 3 ? 1.0f : 0.0f; });
}

TEST(Augment, AShiftThatMovesTheWholeImageOutOfSightIsRefused) {
  EXPECT_NO_THROW(Augment(OneDot(1), {.max_shift = 6}));
  try {
    Augment(OneDot(1), {.max_shift = 7});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--shift_crop=7: the images have 7x7 pixels; at most 6 was expected");
  }
}

TEST(Augment, EveryShiftOccursAboutEquallyOften) {
  constexpr int64_t kSize = 9000;
  const auto dataset = Augment(OneDot(kSize), {.flip = false, .max_shift = 1, .seed = 3});
  std::map<size_t, int> counts;
  std::vector<float> image(49);
  for (int64_t i = 0; i < kSize; ++i) {
    dataset->Get(i, 0, image);
    ++counts[static_cast<size_t>(std::max_element(image.begin(), image.end()) - image.begin())];
  }
  ASSERT_EQ(counts.size(), 9u);
  for (const auto& [position, count] : counts) EXPECT_NEAR(count, 1000, 150) << position;  // five standard deviations
}

TEST(Augment, HalfOfTheImagesAreFlipped) {
  constexpr int64_t kSize = 10000;
  auto source =
      std::make_unique<MadeUpDataset>(kSize, Shape{1, 2, 1}, [](int64_t, int64_t i) { return static_cast<float>(i); });
  const auto dataset = Augment(std::move(source), {.flip = true, .max_shift = 0, .seed = 3});
  int flipped = 0;
  std::vector<float> image(2);
  for (int64_t i = 0; i < kSize; ++i) {
    dataset->Get(i, 0, image);
    flipped += image[0] == 1.0f;
  }
  EXPECT_NEAR(flipped, kSize / 2, 250);
}

TEST(Augment, DrawsDependOnSeedEpochAndIndexAlone) {
  const auto shifts = [](uint64_t seed, uint64_t epoch) {
    const auto dataset = Augment(OneDot(50), {.flip = false, .max_shift = 3, .seed = seed});
    std::vector<std::vector<float>> images(50, std::vector<float>(49));
    for (int64_t i = 49; i >= 0; --i) dataset->Get(i, epoch, images[static_cast<size_t>(i)]);
    return images;
  };
  EXPECT_EQ(shifts(1, 0), shifts(1, 0));
  EXPECT_NE(shifts(1, 0), shifts(1, 1));
  EXPECT_NE(shifts(1, 0), shifts(2, 0));
}

TEST(Normalize, StandardizationGivesMeanZeroAndDeviationOnePerChannel) {
  auto pixel = [](int64_t n, int64_t i) { return static_cast<float>(i % 2 == 0 ? (7 * n + i) % 256 : 10 + n % 3); };
  auto source = std::make_unique<MadeUpDataset>(100, Shape{4, 4, 2}, pixel);
  const Normalization normalization = Standardization(*source);
  const auto dataset = Normalize(std::move(source), normalization);
  double sums[2] = {}, squares[2] = {};
  std::vector<float> image(32);
  for (int64_t n = 0; n < 100; ++n) {
    dataset->Get(n, 0, image);
    for (size_t i = 0; i < image.size(); ++i) {
      sums[i % 2] += image[i];
      squares[i % 2] += double{image[i]} * image[i];
    }
  }
  for (int c = 0; c < 2; ++c) {
    EXPECT_NEAR(sums[c] / 1600, 0, 1e-5);
    EXPECT_NEAR(squares[c] / 1600, 1, 1e-5);
  }
}

TEST(Normalize, StandardizationCountsTheZerosOfPadding) {
  const auto source = [] {
    return std::make_unique<MadeUpDataset>(
        9, Shape{3, 2, 2}, [](int64_t n, int64_t i) { return static_cast<float>((31 * n + 17 * i) % 256); });
  };
  const Normalization expected = Standardization(*Pad(source(), 5)), counted = Standardization(*source(), 5);
  EXPECT_EQ(counted.offset, expected.offset);
  EXPECT_EQ(counted.scale, expected.scale);
}

TEST(Normalize, AConstantChannelIsOnlyCentred) {
  const MadeUpDataset source(3, Shape{2, 2, 1}, [](int64_t, int64_t) { return 5.0f; });
  const Normalization normalization = Standardization(source);
  EXPECT_THAT(normalization.offset, ElementsAre(5.0f));
  EXPECT_THAT(normalization.scale, ElementsAre(1.0f));
}

TEST(Pipeline, TestImagesAreScaledWithTheTrainingNumbersAndNeverAugmented) {
  const auto part = [](float value) {
    return std::make_unique<MadeUpDataset>(2, Shape{1, 2, 1}, [value](int64_t n, int64_t i) {
      return value * static_cast<float>(n) + static_cast<float>(i);
    });
  };
  PipelineOptions options;
  options.augment = {.flip = true, .seed = 1};
  const Normalization expected = Standardization(*part(10));
  const TrainTest data = BuildPipeline({part(10), part(20)}, options);
  std::vector<float> image(2);
  EXPECT_EQ(data.test->Get(1, 5, image), 1);
  EXPECT_FLOAT_EQ(image[0], (20 - expected.offset[0]) * expected.scale[0]);
  EXPECT_FLOAT_EQ(image[1], (21 - expected.offset[0]) * expected.scale[0]);
}

TEST(Pipeline, UnitScalingMapsWhiteToOne) {
  const auto white = [] {
    return std::make_unique<MadeUpDataset>(1, Shape{1, 1, 1}, [](int64_t, int64_t) { return 255.0f; });
  };
  PipelineOptions options;
  options.scaling = Scaling::kUnit;
  const TrainTest data = BuildPipeline({white(), white()}, options);
  std::vector<float> image(1);
  data.train->Get(0, 0, image);
  EXPECT_FLOAT_EQ(image[0], 1.0f);
}

}  // namespace
}  // namespace muster::data
