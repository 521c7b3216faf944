#include "bench/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "bench/flags.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FlagTable Table() { return PeerFlags().Plus(OwnFlags()); }

std::string ErrorOf(const std::string& text) {
  try {
    ParseSweep(text, Table());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

TEST(SweepSpec, EachAxisIsAFlagWithItsValues) {
  EXPECT_THAT(ParseSweep("num_gpus=1,2,4;model=lenet", Table()),
              ElementsAre(SweepAxis{"num_gpus", {"1", "2", "4"}}, SweepAxis{"model", {"lenet"}}));
}

TEST(SweepSpec, TheLastAxisRunsFastest) {
  EXPECT_THAT(SweepPoints({{"a", {"1", "2"}}, {"b", {"x", "y"}}}),
              ElementsAre(SweepPoint{"1", "x"}, SweepPoint{"1", "y"}, SweepPoint{"2", "x"}, SweepPoint{"2", "y"}));
}

TEST(SweepSpec, ErrorsPointAtTheCharacter) {
  EXPECT_THAT(ErrorOf("num_gpus=1;num_gsu=2"),
              HasSubstr("character 12: there is no flag --num_gsu; did you mean --num_gpus?"));
  EXPECT_THAT(ErrorOf("num_gpus=1,,2"), HasSubstr("character 12: --num_gpus lacks a value"));
  EXPECT_THAT(ErrorOf("num_gpus=1,x"), HasSubstr("character 12"));
  EXPECT_THAT(ErrorOf("device=cpu,tpu"), HasSubstr("character 12"));
  EXPECT_THAT(ErrorOf("num_gpus"), HasSubstr("character 1: expected flag=value"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("character 1"));
  EXPECT_THAT(ErrorOf("num_gpus=1;"), HasSubstr("character 12"));
  EXPECT_THAT(ErrorOf("num_gpus=1;num_gpus=2"), HasSubstr("character 12: --num_gpus comes twice"));
  std::string ten = "batch_size=1,2,3,4,5,6,7,8,9,10";
  for (const char* flag : {"num_gpus", "num_batches", "num_warmup_batches", "display_every"})
    ten += std::string(";") + flag + "=1,2,3,4,5,6,7,8,9,10";
  EXPECT_THAT(ErrorOf(ten), HasSubstr("more than 10000 points"));
  EXPECT_THAT(ErrorOf("json=a,b"), HasSubstr("--json cannot be swept"));
  EXPECT_EQ(ErrorOf("batch_size=auto,4"), "no error");
  EXPECT_THAT(ErrorOf("num_gpus=auto"), HasSubstr("'auto' is not an integer"));
}

// images/sec = 100 × devices^0.9, twice as much at batch 16.
SweepMeasurement Measure(const std::vector<SweepAxis>&, const SweepPoint& point) {
  SweepMeasurement measured;
  measured.model = "lenet5";
  measured.num_devices = std::stoll(point[0]);
  if (point[0] == "4") throw Error(Code::kResourceExhausted, "does not fit");
  measured.images_per_sec = (point[1] == "16" ? 200 : 100) * (point[0] == "2" ? 1.9 : 1);
  measured.step_seconds = 2;
  measured.exchange_exposed_seconds = 0.1;
  measured.bytes_per_device = 3 << 20;
  return measured;
}

SweepResult Sweep() {
  return RunSweep({{"num_gpus", {"1", "2", "4"}}, {"batch_size", {"8", "16"}}}, Measure, [](const std::string&) {});
}

TEST(Sweep, ComparesWithTheBestSingleDevice) {
  const SweepResult result = Sweep();
  ASSERT_EQ(result.rows.size(), 6u);
  EXPECT_DOUBLE_EQ(*result.rows[0].speed_up, 0.5);
  EXPECT_DOUBLE_EQ(*result.rows[1].speed_up, 1);
  EXPECT_DOUBLE_EQ(*result.rows[3].speed_up, 1.9);
  EXPECT_DOUBLE_EQ(*result.rows[3].efficiency, 0.95);
}

TEST(Sweep, APointThatFailsDoesNotEndIt) {
  const SweepResult result = Sweep();
  EXPECT_EQ(result.rows[4].measured.error, "does not fit");
  EXPECT_FALSE(result.rows[4].speed_up.has_value());
  EXPECT_FALSE(result.interrupted);
}

TEST(Sweep, WithoutASingleDeviceThereIsNoSpeedUp) {
  const SweepResult result = RunSweep({{"num_gpus", {"2"}}, {"batch_size", {"8"}}}, Measure, [](const std::string&) {});
  EXPECT_FALSE(result.rows[0].speed_up.has_value());
}

TEST(Sweep, CtrlCKeepsThePointsThatAreDone) {
  InterruptScope interrupts;
  int runs = 0;
  const auto run = [&](const std::vector<SweepAxis>& axes, const SweepPoint& point) {
    if (++runs == 2) RequestInterrupt();
    return Measure(axes, point);
  };
  const SweepResult result =
      RunSweep({{"num_gpus", {"1", "2"}}, {"batch_size", {"8", "16"}}}, run, [](const std::string&) {});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.rows.size(), 1u);
}

TEST(Sweep, TheTableHasALineForEachPoint) {
  EXPECT_EQ(SweepTable(Sweep()),
            "num_gpus  batch_size  images/sec  speed-up  efficiency  exchange exposed  MiB per device\n"
            "1         8               100.00      0.50       0.500              5.0%             3.0\n"
            "1         16              200.00      1.00       1.000              5.0%             3.0\n"
            "2         8               190.00      0.95       0.475              5.0%             3.0\n"
            "2         16              380.00      1.90       0.950              5.0%             3.0\n"
            "4         8               failed\n"
            "4         16              failed\n");
}

TEST(Sweep, CsvQuotesWhatNeedsIt) {
  SweepResult result{{{"model", {"a,b"}}}, {}, false};
  SweepRow row{{"a,b"}, {}, {}, {}};
  row.measured.error = "no such \"model\"";
  result.rows.push_back(row);
  EXPECT_THAT(SweepCsv(result), HasSubstr("\"a,b\",,,,,,,,,\"no such \"\"model\"\"\"\n"));
}

TEST(Sweep, JsonHoldsEveryPoint) {
  const auto json = nlohmann::json::parse(SweepJson(Sweep(), {"--sweep=x"}));
  ASSERT_EQ(json["rows"].size(), 6u);
  EXPECT_EQ(json["rows"][3]["point"]["num_gpus"], "2");
  EXPECT_EQ(json["rows"][3]["images_per_sec"], 380.0);
  EXPECT_EQ(json["rows"][4]["error"], "does not fit");
  for (const char* unknown : {"images_per_sec", "model", "num_devices", "step_seconds", "bytes_per_device"})
    EXPECT_TRUE(json["rows"][4][unknown].is_null()) << unknown;
}

TEST(Sweep, ReadsResultFiles) {
  const SweepMeasurement m = MeasurementFromJson(
      R"({"error": null, "images_per_sec": 12.5, "planned_peak_bytes": 99,
          "mean_seconds": {"step": 0.5, "exchange_exposed": 0.25},
          "memory": [{"device": "/cpu:0", "planned_bytes": 7}, {"device": "/cpu:1", "planned_bytes": 9}],
          "run": {"model": "lenet5", "devices": ["/cpu:0", "/cpu:1"]}})");
  EXPECT_EQ(m.model, "lenet5");
  EXPECT_EQ(m.num_devices, 2);
  EXPECT_EQ(m.images_per_sec, 12.5);
  EXPECT_EQ(m.exchange_exposed_seconds, 0.25);
  EXPECT_EQ(m.bytes_per_device, 9);
}

}  // namespace
}  // namespace muster::bench
