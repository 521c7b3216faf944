// The graph form of every schedule of golden/schedules.json, fed with the sampled steps.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/ops/state.h"
#include "muster/session.h"
#include "tests/nn/golden_schedules.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

TEST(GoldenScheduleGraphs, EachGivesTensorFlowsRateAtEverySampledStep) {
  const nlohmann::json table = testing::GoldenJson("schedules.json");
  for (const auto& [name, row] : table["schedules"].items()) {
    Graph graph;
    Scope scope(&graph);
    const Output step = ops::Placeholder(scope, DType::kInt64, {});
    const Output rate = BuildRate(scope, testing::ScheduleOf(name, row["args"]), step);
    for (const char* backend : {"reference", "cpu"}) {
      Session session(&graph, {.intra_op_threads = 1, .backend = backend});
      for (const auto& sample : row["samples"]) {
        const float wanted = sample[1];
        const Tensor number = Tensor::Scalar<int64_t>(sample[0].get<int64_t>());
        const float actual = session.Run({{step, number}}, {rate})[0].scalar<float>();
        EXPECT_NEAR(actual, wanted, 1e-6 * wanted) << name << " on " << backend << " at step " << sample[0];
      }
    }
  }
}

TEST(ScheduleGraphs, WarmupAndFloorFollowTheFunction) {
  const Schedule schedule{
      .rule = schedules::Exponential{1, 10, 0.5, true}, .minimum_rate = 0.375, .warmup_steps = 4, .warmup_rate = 1};
  Graph graph;
  Scope scope(&graph);
  const Output step = ops::Placeholder(scope, DType::kInt64, {});
  const Output rate = BuildRate(scope, schedule, step);
  Session session(&graph, {.intra_op_threads = 1, .backend = "reference"});
  for (int64_t k : {0, 1, 3, 4, 9, 10, 20, 100})
    EXPECT_EQ(session.Run({{step, Tensor::Scalar<int64_t>(k)}}, {rate})[0].scalar<float>(), RateAt(schedule, k)) << k;
}

}  // namespace
}  // namespace muster
