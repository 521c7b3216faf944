// Learning-rate schedules against TensorFlow's samples in golden/schedules.json. The graph form is checked where
// graphs can run, in golden_graph_test.cc.

#include "muster/schedule.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/error.h"
#include "tests/nn/golden_schedules.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

TEST(GoldenSchedules, EachRuleGivesTensorFlowsRateAtEverySampledStep) {
  const nlohmann::json table = testing::GoldenJson("schedules.json");
  for (const auto& [name, row] : table["schedules"].items()) {
    SCOPED_TRACE(name);
    const Schedule schedule = testing::ScheduleOf(name, row["args"]);
    for (const auto& sample : row["samples"]) {
      const double rate = sample[1];
      EXPECT_NEAR(RateAt(schedule, sample[0]), rate, 1e-6 * rate) << "at step " << sample[0];
    }
  }
}

TEST(Schedule, WarmupRisesInALineAndThenTheRuleHolds) {
  const Schedule schedule{.rule = schedules::Constant{0.5}, .warmup_steps = 4, .warmup_rate = 0.5};
  EXPECT_EQ(RateAt(schedule, 0), 0);
  EXPECT_EQ(RateAt(schedule, 1), 0.125);
  EXPECT_EQ(RateAt(schedule, 3), 0.375);
  EXPECT_EQ(RateAt(schedule, 4), 0.5);
}

TEST(Schedule, TheRateNeverFallsBelowTheFloor) {
  const Schedule schedule{.rule = schedules::Exponential{1, 10, 0.5, true}, .minimum_rate = 0.375};
  EXPECT_EQ(RateAt(schedule, 9), 1);
  EXPECT_EQ(RateAt(schedule, 19), 0.5);
  EXPECT_EQ(RateAt(schedule, 20), 0.375);
}

TEST(Schedule, ABoundaryBeyondFloat32IsExact) {
  const int64_t boundary = (int64_t{1} << 24) + 1;
  const Schedule schedule{schedules::Piecewise{{boundary}, {1, 2}}};
  EXPECT_EQ(RateAt(schedule, boundary), 1);
  EXPECT_EQ(RateAt(schedule, boundary + 1), 2);
}

TEST(Schedule, NonsenseIsRefused) {
  EXPECT_THROW(RateAt({schedules::Exponential{0.1, 0, 0.5}}, 1), Error);
  EXPECT_THROW(RateAt({schedules::Piecewise{{10}, {1}}}, 1), Error);
  EXPECT_THROW(RateAt({schedules::Piecewise{{}, {}}}, 1), Error);
  EXPECT_THROW(RateAt({schedules::Piecewise{{10, 5}, {1, 2, 3}}}, 1), Error);
  EXPECT_THROW(RateAt({schedules::CosineRestarts{0.1, 10, 0}}, 1), Error);
}

}  // namespace
}  // namespace muster
