#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/learning_rate.h"
#include "bench/param_table.h"
#include "bench/peer_models.h"
#include "bench/strategy.h"
#include "muster/error.h"
#include "tests/testing/golden.h"

namespace muster::bench {
namespace {

constexpr double kRelative = 1e-6;  // README of the golden values

const OwnParams kSum = {.gradient_combine = "sum"};  // as tf_cnn_benchmarks' replicated mode

void ExpectSamples(const Schedule& rate, const nlohmann::json& samples, const std::string& what) {
  for (const nlohmann::json& sample : samples) {
    const double expected = sample.at(1);
    EXPECT_NEAR(RateAt(rate, sample.at(0)), expected, kRelative * std::abs(expected))
        << what << " at step " << sample.at(0);
  }
}

// Flags as JSON values: strings stay as they are, numbers are written out.
BenchParams ParamsFrom(const nlohmann::json& flags) {
  BenchParams params;
  for (const auto& [name, value] : flags.items()) {
    for (const ParamField& field : BenchParamTable().fields()) {
      if (field.spec.name != name) continue;
      SetParam(params, field, ParseFlagValue(field.spec, value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  return params;
}

TEST(GoldenLearningRate, FlagsGiveThePeersScheduleAtEveryBoundary) {
  const nlohmann::json golden = testing::GoldenJson("schedules.json");
  for (const nlohmann::json& entry : golden.at("benchmark_flags")) {
    const BenchParams params = ParamsFrom(entry.at("flags"));
    const Model& model = FindBenchModel(params.model, params.data_name.value_or("imagenet"));
    const Schedule rate = MakeSchedule(params, model, entry.at("train_images"), entry.at("images_per_global_step"),
                                       SummedTowers(params, kSum));
    ExpectSamples(rate, entry.at("samples"), entry.at("flags").dump());
  }
}

TEST(GoldenLearningRate, EveryModelsOwnScheduleIsThePeers) {
  const nlohmann::json golden = testing::GoldenJson("models.json");
  for (const nlohmann::json& entry : golden.at("models")) {
    if (!entry.at("learning_rate_is_schedule").get<bool>()) continue;
    for (const Model& model : Models()) {
      if (model.name != entry.at("model") || model.dataset != entry.at("dataset")) continue;
      ExpectSamples(MakeSchedule(BenchParams{}, model, entry.at("train_images"),
                                 entry.at("learning_rate_samples_images_per_step"), 1),
                    entry.at("learning_rate_samples"), model.name);
    }
  }
}

std::string ErrorOf(const BenchParams& params) {
  try {
    MakeSchedule(params, FindBenchModel("trivial", "imagenet"), 1281167, 32, 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(LearningRate, MalformedSchedulesAreRefusedNamingThePart) {
  BenchParams params;
  params.piecewise_learning_rate_schedule = "1;2";
  EXPECT_EQ(ErrorOf(params), "--piecewise_learning_rate_schedule must have an odd number of components");
  params.piecewise_learning_rate_schedule = "1;x;.1";
  EXPECT_EQ(ErrorOf(params), "--piecewise_learning_rate_schedule: Invalid epoch: x");
  params.piecewise_learning_rate_schedule = "1;2.5;.1";
  EXPECT_EQ(ErrorOf(params), "--piecewise_learning_rate_schedule: Invalid epoch: 2.5");
  params.piecewise_learning_rate_schedule = "1;2;y";
  EXPECT_EQ(ErrorOf(params), "--piecewise_learning_rate_schedule: Invalid learning rate: y");
  params.piecewise_learning_rate_schedule = ";2;1";
  EXPECT_EQ(ErrorOf(params), "--piecewise_learning_rate_schedule: Invalid learning rate: ");
  params.piecewise_learning_rate_schedule = "1;5;.1;3;.01";
  EXPECT_NE(ErrorOf(params).find("epoch 3"), std::string::npos);
}

TEST(LearningRate, APiecewiseScheduleExcludesTheOtherRateFlags) {
  BenchParams params;
  params.piecewise_learning_rate_schedule = "1;2;.1";
  EXPECT_EQ(ErrorOf(params), "no error");
  params.init_learning_rate = 1;
  EXPECT_NE(ErrorOf(params).find("excludes --init_learning_rate"), std::string::npos);
  params.init_learning_rate.reset();
  params.minimum_learning_rate = 0.1;
  EXPECT_NE(ErrorOf(params), "no error");
}

TEST(LearningRate, ADecayShorterThanAStepIsRefused) {
  BenchParams params;
  params.init_learning_rate = 1;
  params.learning_rate_decay_factor = 0.5;
  params.num_epochs_per_decay = 1e-9;
  EXPECT_NE(ErrorOf(params).find("--num_epochs_per_decay"), std::string::npos);
}

// Section 7.4 of the inventory: the peer's own test-suite.
TEST(LearningRate, ResnetBaseRateScalesWithTheBatch) {
  const Model& resnet = FindBenchModel("resnet50", "imagenet");
  const auto top_rate = [&](int64_t images, const char* mode, int64_t gpus) {
    BenchParams params;
    params.variable_update = mode;
    params.num_gpus = gpus;
    const int64_t after_warmup = 6 * 1281167 / images;
    return static_cast<float>(
        RateAt(MakeSchedule(params, resnet, 1281167, images, SummedTowers(params, kSum)), after_warmup));
  };
  EXPECT_FLOAT_EQ(top_rate(128, "parameter_server", 1), 0.064f);
  EXPECT_FLOAT_EQ(top_rate(2048, "replicated", 8), 0.128f);
  EXPECT_FLOAT_EQ(top_rate(512, "parameter_server", 2), 0.256f);
  EXPECT_FLOAT_EQ(top_rate(13, "replicated", 2), 0.00325f);
}

TEST(LearningRate, OnlyASumOfGradientsDividesTheResnetRate) {
  BenchParams params;
  params.variable_update = "replicated";
  params.num_gpus = 8;
  EXPECT_EQ(SummedTowers(params, kSum), 8);
  EXPECT_EQ(SummedTowers(params, OwnParams{}), 1) << "a mean needs no smaller rate";
  params.variable_update = "parameter_server";
  EXPECT_EQ(SummedTowers(params, kSum), 1) << "tf_cnn_benchmarks divides in replicated mode only";
}

}  // namespace
}  // namespace muster::bench
