#include "train/recipe.h"

#include <gtest/gtest.h>

#include "muster/error.h"

namespace muster::train {
namespace {

// 1,000 images in batches of 100: ten steps per epoch.
double Rate(const ScheduleOptions& options, int64_t step, int64_t num_epochs = 8) {
  return RateAt(MakeSchedule(options, 1000, 100, num_epochs), step);
}

TEST(Recipe, PolynomialAndCosineEndWithTheLastEpoch) {
  const ScheduleOptions line{.kind = "polynomial", .init_rate = 0.4, .minimum_rate = 0.1};
  EXPECT_FLOAT_EQ(Rate(line, 0), 0.4);
  EXPECT_FLOAT_EQ(Rate(line, 40), 0.25);
  EXPECT_FLOAT_EQ(Rate(line, 80), 0.1);
  const ScheduleOptions cosine{.kind = "cosine", .init_rate = 0.4, .minimum_rate = 0.1};
  EXPECT_FLOAT_EQ(Rate(cosine, 40), 0.25);
  EXPECT_FLOAT_EQ(Rate(cosine, 80), 0.1);
}

TEST(Recipe, DecayEpochsEndTheDecayEarlier) {
  const ScheduleOptions line{.kind = "polynomial", .init_rate = 0.4, .decay_epochs = 2};
  EXPECT_FLOAT_EQ(Rate(line, 10), 0.2);
  EXPECT_FLOAT_EQ(Rate(line, 20), 0);
}

TEST(Recipe, ExponentialIsSmoothAndStaircaseStepsAndBothHaveAFloor) {
  ScheduleOptions options{
      .kind = "exponential", .init_rate = 1, .epochs_per_decay = 2, .decay_factor = 0.25, .minimum_rate = 0.05};
  EXPECT_FLOAT_EQ(Rate(options, 10), 0.5);
  EXPECT_FLOAT_EQ(Rate(options, 20), 0.25);
  EXPECT_FLOAT_EQ(Rate(options, 70), 0.05);
  options.kind = "staircase";
  EXPECT_FLOAT_EQ(Rate(options, 19), 1);
  EXPECT_FLOAT_EQ(Rate(options, 20), 0.25);
}

TEST(Recipe, PiecewiseBoundariesAreEpochs) {
  ScheduleOptions options;
  ParsePiecewise("0.3;1;0.2;2.5;0.1", &options);
  EXPECT_FLOAT_EQ(Rate(options, 0), 0.3);
  EXPECT_FLOAT_EQ(Rate(options, 11), 0.2);
  EXPECT_FLOAT_EQ(Rate(options, 25), 0.2);
  EXPECT_FLOAT_EQ(Rate(options, 26), 0.1);
}

TEST(Recipe, WarmUpRampsFromZero) {
  const ScheduleOptions options{.kind = "constant", .init_rate = 0.8, .warmup_epochs = 2};
  EXPECT_FLOAT_EQ(Rate(options, 5), 0.2);
  EXPECT_FLOAT_EQ(Rate(options, 20), 0.8);
}

TEST(Recipe, EveryOptimizerNameMakesOne) {
  for (const std::string& name : OptimizerNames()) EXPECT_NE(MakeOptimizer({.name = name}, 0.1), nullptr) << name;
}

TEST(Recipe, OptimizersThatDecayWeightsThemselvesGetNoL2Loss) {
  EXPECT_EQ(L2Factor({.name = "adamw", .weight_decay = 0.1}), 0);
  EXPECT_EQ(L2Factor({.name = "lars", .weight_decay = 0.1}), 0);
  EXPECT_EQ(L2Factor({.name = "adam", .weight_decay = 0.1}), 0.1);
}

}  // namespace
}  // namespace muster::train
