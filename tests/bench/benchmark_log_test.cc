#include "bench/benchmark_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/testing/golden.h"

namespace muster::bench {
namespace {

// Keys, their order and the types of values of a line of JSON.
std::string Form(const nlohmann::ordered_json& value) {
  std::string form;
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) form += key + ":" + Form(item) + ",";
    return "{" + form + "}";
  }
  if (value.is_array()) return "[]";
  return value.is_number() ? "number" : value.type_name();
}

TEST(GoldenBenchmarkLog, HasTheFormOfTheModelGardens) {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster_log_XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  BenchParams params;
  params.model = "lenet";
  params.batch_size = 8;
  params.num_batches = 20;
  params.data_format = "NHWC";
  params.benchmark_test_id = "my_test";
  BenchmarkLog log(folder + "/blog");
  log.LogRun(params, Derive(params), ReadMachineFacts());
  log.LogMetric("current_examples_per_sec", 416.5, 1);
  log.LogMetric("average_examples_per_sec", 400, 20);

  using Json = nlohmann::ordered_json;
  const std::string golden_dir = testing::GoldenDir().string() + "/cnn_benchmarks/";
  const std::string run_text = ReadFile(folder + "/blog/benchmark_run.log");
  const std::string golden_text = ReadFile(golden_dir + "benchmark_log.benchmark_run.log");
  const Json run = Json::parse(run_text), golden = Json::parse(golden_text);
  EXPECT_EQ(Form(run), Form(golden));
  // Up to the facts of the machine the lines are the same to the byte.
  const size_t known = golden_text.find("\"cpu_info\"");
  ASSERT_NE(known, std::string::npos);
  EXPECT_EQ(run_text.substr(0, known), golden_text.substr(0, known));
  EXPECT_EQ(std::count(run_text.begin(), run_text.end(), '\n'), 1);
  ASSERT_EQ(run.at("run_parameters").size(), golden.at("run_parameters").size());
  for (size_t i = 0; i < golden.at("run_parameters").size(); ++i) {
    const Json& ours = run.at("run_parameters").at(i);
    const Json& theirs = golden.at("run_parameters").at(i);
    const bool masked = theirs.at("name") == "session_config";
    EXPECT_EQ(masked ? Form(ours) : ours.dump(), masked ? Form(theirs) : theirs.dump());
  }

  const std::string metrics = ReadFile(folder + "/blog/metric.log");
  const std::string golden_metrics = ReadFile(golden_dir + "benchmark_log.metric.log");
  EXPECT_EQ(Form(Json::parse(metrics.substr(0, metrics.find('\n')))),
            Form(Json::parse(golden_metrics.substr(0, golden_metrics.find('\n')))));
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 2);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace muster::bench
