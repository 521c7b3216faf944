#include "train/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/error.h"
#include "train/result_json.h"

namespace muster::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrainOptions Parse(const std::vector<std::string>& words) { return OptionsFromFlags(ParseFlags(TrainFlags(), words)); }

std::string ErrorOf(const std::vector<std::string>& words) {
  try {
    Parse(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TrainFlags, DefaultsTrainFashionMnistToNinetyPercent) {
  const TrainOptions options = Parse({});
  EXPECT_EQ(options.dataset, "fashion-mnist");
  EXPECT_EQ(options.target_accuracy, 0.9);
  EXPECT_TRUE(options.check_nan);
}

TEST(TrainFlags, ValuesReachTheOptions) {
  const TrainOptions options = Parse(
      {"--random_flip", "--shift_crop=2", "--seed=9", "--optimizer=lars", "--momentum", "0.8", "--batch_size=32"});
  EXPECT_TRUE(options.pipeline.augment.flip);
  EXPECT_EQ(options.pipeline.augment.max_shift, 2);
  EXPECT_EQ(options.pipeline.augment.seed, 9u);
  EXPECT_EQ(options.seed, 9u);
  EXPECT_EQ(options.optimizer.name, "lars");
  EXPECT_EQ(options.optimizer.momentum, 0.8);
  EXPECT_EQ(options.batch_size, 32);
  EXPECT_EQ(options.flag_words.front(), "--random_flip");
}

TEST(TrainFlags, APiecewiseScheduleIsReadAndImpliesItsKind) {
  const ScheduleOptions schedule = Parse({"--piecewise_learning_rate_schedule=0.3;10;0.03;20.5;3e-3"}).schedule;
  EXPECT_EQ(schedule.kind, "piecewise");
  EXPECT_THAT(schedule.rates, ElementsAre(0.3, 0.03, 0.003));
  EXPECT_THAT(schedule.boundaries, ElementsAre(10, 20.5));
}

TEST(TrainFlags, AMalformedPiecewiseScheduleNamesThePart) {
  EXPECT_THAT(ErrorOf({"--piecewise_learning_rate_schedule=0.3;x;0.03"}), HasSubstr("'x' is no number"));
  EXPECT_THAT(ErrorOf({"--piecewise_learning_rate_schedule=0.3;10"}), HasSubstr("it ends with an epoch"));
  EXPECT_THAT(ErrorOf({"--piecewise_learning_rate_schedule=0.3;"}), HasSubstr("'' is no number"));
  EXPECT_THAT(ErrorOf({"--piecewise_learning_rate_schedule=0.3;9;0.1;8;0.01"}),
              HasSubstr("epoch 8 does not come after epoch 9"));
  EXPECT_THAT(ErrorOf({"--piecewise_learning_rate_schedule=-0.3"}), HasSubstr("'-0.3' is negative"));
  EXPECT_THAT(ErrorOf({"--piecewise_learning_rate_schedule=nan"}), HasSubstr("'nan' is no number"));
}

TEST(TrainFlags, FlagsThatExcludeEachOtherAreNamed) {
  EXPECT_THAT(ErrorOf({"--piecewise_learning_rate_schedule=0.1", "--init_learning_rate=1"}),
              HasSubstr("exclude each other"));
  EXPECT_THAT(ErrorOf({"--piecewise_learning_rate_schedule=0.1", "--learning_rate_schedule=cosine"}),
              HasSubstr("exclude each other"));
  EXPECT_THAT(ErrorOf({"--learning_rate_schedule=piecewise"}), HasSubstr("needs --piecewise_learning_rate_schedule"));
  EXPECT_THAT(ErrorOf({"--minimum_learning_rate=1", "--learning_rate_schedule=cosine"}),
              HasSubstr("is above --init_learning_rate"));
}

TEST(TrainFlags, AFlagThatWouldBeIgnoredIsRefused) {
  EXPECT_THAT(ErrorOf({"--optimizer=adam", "--momentum=0.5"}),
              HasSubstr("--momentum has no effect without --optimizer=momentum, nesterov or lars"));
  EXPECT_THAT(ErrorOf({"--optimizer=sgd", "--adam_beta1=0.5"}), HasSubstr("--adam_beta1 has no effect"));
  EXPECT_THAT(ErrorOf({"--learning_rate_schedule=constant", "--num_epochs_per_decay=2"}),
              HasSubstr("--num_epochs_per_decay has no effect"));
}

TEST(TrainFlags, AdamDecaysOfOneAreRefused) {
  EXPECT_EQ(ErrorOf({"--adam_beta1=1"}), "--adam_beta1=1: must be below 1");
  EXPECT_EQ(ErrorOf({"--adam_beta2=1"}), "--adam_beta2=1: must be below 1");
  EXPECT_EQ(ErrorOf({"--adam_beta1=0", "--adam_beta2=0.9999"}), "no error");
}

TEST(TrainFlags, TheHelpNamesTheVariableWithTheDataFolder) {
  const FlagTable table = TrainFlags();
  EXPECT_THAT(table.Find("dataset")->help, HasSubstr("MUSTER_DATA_DIR"));
}

TEST(TrainFlags, ValuesOutOfBoundsAreRefused) {
  for (const char* word : {"--batch_size=0", "--batch_size=-1", "--target_accuracy=1.5", "--num_epochs=0",
                           "--optimizer=magic", "--shift_crop=-1", "--eval_every_n_epochs=0"})
    EXPECT_THROW(Parse({word}), Error) << word;
}

TEST(ResultJson, HoldsWhatRepeatsTheRunAndWhatCameOut) {
  const TrainOptions options =
      Parse({"--optimizer=momentum", "--init_learning_rate=0.1", "--learning_rate_schedule=cosine"});
  TrainResult result{.outcome = Outcome::kTargetReached, .target_accuracy = 0.8, .steps = 7};
  result.evaluations.push_back({.epoch = 1, .step = 7, .test_accuracy = 0.85, .at_seconds = 3.5});
  const auto json =
      nlohmann::json::parse(ResultJson(options, {.train_images = 60000, .image_shape = {28, 28, 1}}, result).Text());
  EXPECT_EQ(json["schema"], "muster.train");
  EXPECT_EQ(json["flags"].size(), 3u);
  EXPECT_EQ(json["optimizer"], (nlohmann::json{{"name", "momentum"}, {"momentum", 0.9}, {"weight_decay", 0.0}}));
  EXPECT_EQ(json["learning_rate"]["kind"], "cosine");
  EXPECT_EQ(json["dataset"]["image_shape"], (nlohmann::json{28, 28, 1}));
  EXPECT_EQ(json["result"]["outcome"], "target_reached");
  EXPECT_EQ(json["result"]["time_to_accuracy"], 3.5);
  EXPECT_EQ(json["result"]["best_test_accuracy"], 0.85);
  EXPECT_EQ(json["evaluations"].size(), 1u);
}

TEST(ResultJson, WhatDoesNotExistIsNull) {
  const auto json = nlohmann::json::parse(ResultJson(Parse({"--target_accuracy=0"}), {}, {}).Text());
  EXPECT_TRUE(json["result"]["time_to_accuracy"].is_null());
  EXPECT_TRUE(json["result"]["target_accuracy"].is_null());
  EXPECT_TRUE(json["result"]["best_test_accuracy"].is_null());
}

}  // namespace
}  // namespace muster::train
