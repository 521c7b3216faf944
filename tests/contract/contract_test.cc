// The contract with tf_cnn_benchmarks: recorded command lines are given to the program as they stand, and what it
// prints may differ from the recorded output only in measured figures, in the version line and in device names.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "tests/contract/recorded.h"
#include "tests/contract/run_program.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

using testing::Finished;
using testing::GoldenFile;
using testing::Lines;
using testing::Masked;
using testing::MaskedLines;
using testing::RecordedOutput;
using testing::Words;

// Runs of one process on synthetic data that end well.
const std::vector<std::string>& Runs() {
  static const std::vector<std::string> names = {"default_trivial",
                                                 "display_every",
                                                 "training_accuracy",
                                                 "cifar_resnet_momentum",
                                                 "num_epochs",
                                                 "forward_only",
                                                 "forward_only_freeze",
                                                 "ewma",
                                                 "benchmark_log",
                                                 "trace",
                                                 "eval_during_training",
                                                 "eval_no_checkpoint",
                                                 "fp16",
                                                 "staged_vars",
                                                 "two_towers_parameter_server",
                                                 "two_towers_replicated",
                                                 "two_towers_replicated_pscpu",
                                                 "two_towers_independent"};
  return names;
}

// Recorded refusals that Muster does not share: it converts layouts, and its densenets have no such error.
bool Shared(const std::string& name) { return name != "err_cpu_nchw" && name != "err_densenet"; }

class Contract : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { commands_ = testing::GoldenJson("cnn_benchmarks/commands.json"); }
  static nlohmann::json commands_;
};
nlohmann::json Contract::commands_;

TEST_F(Contract, RecordedRunsPrintTheSameLines) {
  for (const std::string& name : Runs()) {
    SCOPED_TRACE(name);
    const nlohmann::json& entry = commands_.at(name);
    testing::TemporaryFolder folder;
    const Finished ours = testing::RunProgram(Words(entry.at("command")), folder.path());
    EXPECT_EQ(ours.exit_code, entry.at("exit_code").get<int>()) << ours.err;
    EXPECT_EQ(MaskedLines(ours.out), MaskedLines(RecordedOutput(entry)));
  }
}

// Runs that share a folder: the second goes on from the first one's checkpoint, the third evaluates the second one's.
TEST_F(Contract, TrainingResumingAndEvaluatingPrintTheSameLines) {
  testing::TemporaryFolder folder;
  for (const char* name : {"train_with_checkpoint", "resume", "eval"}) {
    SCOPED_TRACE(name);
    const nlohmann::json& entry = commands_.at(name);
    const Finished ours = testing::RunProgram(Words(entry.at("command")), folder.path());
    EXPECT_EQ(ours.exit_code, entry.at("exit_code").get<int>()) << ours.err;
    EXPECT_EQ(MaskedLines(ours.out), MaskedLines(RecordedOutput(entry)));
  }
}

// The message is the peer's; Muster may add the list of what there is. Bad input is exit code 2 throughout.
TEST_F(Contract, RecordedRefusalsAreRefusedInTheSameWords) {
  for (const auto& [name, entry] : commands_.items()) {
    if ((name.compare(0, 4, "err_") != 0 && name != "result_storage_none") || !Shared(name)) continue;
    SCOPED_TRACE(name);
    testing::TemporaryFolder folder;
    const Finished ours = testing::RunProgram(Words(entry.at("command")), folder.path());
    EXPECT_EQ(ours.exit_code, 2);
    EXPECT_EQ(MaskedLines(ours.out), MaskedLines(RecordedOutput(entry)));
    std::string message = entry.at("stderr_last_line");
    for (const std::string prefix : {"ValueError: ", "FATAL Flags parsing error: "}) {
      if (message.compare(0, prefix.size(), prefix) == 0) message = message.substr(prefix.size());
    }
    const std::vector<std::string> lines = Lines(ours.err);
    ASSERT_EQ(lines.size(), 1u) << ours.err;
    const std::string expected = "muster bench: " + message;
    const bool same =
        lines[0] == expected || lines[0].compare(0, expected.size() + 16, expected + ". Must be one of") == 0;
    EXPECT_TRUE(same) << lines[0] << "\nexpected: " << expected;
  }
}

TEST_F(Contract, TheStructuredLogHasTheRecordedMetricsInTheRecordedOrder) {
  const nlohmann::json& entry = commands_.at("benchmark_log");
  testing::TemporaryFolder folder;
  ASSERT_EQ(testing::RunProgram(Words(entry.at("command")), folder.path()).exit_code, 0);
  const auto summary = [](const std::string& text) {
    std::vector<std::string> metrics;
    for (const std::string& line : Lines(text)) {
      const nlohmann::json metric = nlohmann::json::parse(line);
      metrics.push_back(metric.at("name").get<std::string>() + " at " + metric.at("global_step").dump());
    }
    return metrics;
  };
  EXPECT_EQ(summary(ReadFile(folder.path() + "/blog/metric.log")),
            summary(ReadFile(GoldenFile("benchmark_log.metric.log"))));
  const nlohmann::json run = nlohmann::json::parse(ReadFile(folder.path() + "/blog/benchmark_run.log"));
  EXPECT_EQ(run.at("test_id"), "my_test");
  EXPECT_EQ(run.at("model_name"), "lenet5");
}

// The peer's trace has a complete event for each operation, in processes named by device; so has ours, and a graph
// beside it.
TEST_F(Contract, TheTraceHasTheRecordedForm) {
  const auto summary = [](const std::string& text) {
    std::set<std::string> processes, fields;
    const nlohmann::json trace = nlohmann::json::parse(text);
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("name") == "process_name") processes.insert(event.at("args").at("name").get<std::string>());
      if (event.at("ph") != "X") continue;
      for (const auto& [key, value] : event.items()) fields.insert(key);
    }
    return std::pair(processes, fields);
  };
  testing::TemporaryFolder folder;
  ASSERT_EQ(testing::RunProgram(Words(commands_.at("trace").at("command")), folder.path()).exit_code, 0);
  const auto [processes, fields] = summary(ReadFile(folder.path() + "/trace.json"));
  const auto [recorded_processes, recorded_fields] = summary(ReadFile(GoldenFile("trace.chrome.json")));
  EXPECT_EQ(fields, recorded_fields);
  const std::string device = "/job:localhost/replica:0/task:0/device:CPU:0 Compute";
  EXPECT_EQ(recorded_processes.count(device), 1u);
  EXPECT_EQ(processes.count(device), 1u);
  EXPECT_NE(ReadFile(folder.path() + "/graph.pbtxt").find("device: \"/job:localhost/replica:0/task:0/device:CPU:0\""),
            std::string::npos);
}

// A recorded run is compared somewhere, or it is named here with the reason why not.
TEST_F(Contract, EveryRecordedRunIsComparedOrNamedAsNot) {
  const std::set<std::string> elsewhere = {"train_with_checkpoint", "resume", "eval",  // above
                                           "real_data_train",
                                           "real_data_eval"};  // data_contract_test.cc, evaluation_contract_test.cc
  const std::set<std::string> not_shared = {
      "real_data_train_with_png_record"};  // the peer stops at an image that Muster reads
  const std::set<std::string> clusters = {"ps1_worker1", "ps1_worker2", "ps1_worker2_async",
                                          "ps2_worker2_distributed_replicated"};  // not built yet
  for (const auto& [name, entry] : commands_.items()) {
    const bool refusal = name.starts_with("err_") || name == "result_storage_none";
    const bool run = std::ranges::count(Runs(), name) == 1;
    EXPECT_EQ(refusal + run + static_cast<int>(elsewhere.count(name) + not_shared.count(name) + clusters.count(name)),
              1)
        << name;
  }
}

// The mask itself must not hide a difference of form.
TEST(ContractMask, HidesFiguresOnly) {
  EXPECT_EQ(Masked("TensorFlow:  2.21"), Masked("Muster:      0.1.0"));
  EXPECT_EQ(Masked("1\timages/sec: 97.5 +/- 0.0 (jitter = 0.0)\tnan"),
            Masked("1\timages/sec: 1.0 +/- 2.0 (jitter = 3.5)\t7.123"));
  EXPECT_NE(Masked("1\timages/sec: 97.5 +/- 0.0 (jitter = 0.0)\t7.12"),
            Masked("1\timages/sec: 97.5 +/- 0.0 (jitter = 0.0)\t7.123"));
  EXPECT_NE(Masked("1\timages/sec: 97.5 +/- 0.0 (jitter = 0.0)\t7.123"),
            Masked("2\timages/sec: 97.5 +/- 0.0 (jitter = 0.0)\t7.123"));
  EXPECT_NE(Masked("1 images/sec: 97.5 +/- 0.0 (jitter = 0.0)\t7.123"),
            Masked("1\timages/sec: 97.5 +/- 0.0 (jitter = 0.0)\t7.123"));
  EXPECT_EQ(Masked("Accuracy @ 1 = 0.1500 Accuracy @ 5 = 0.5875 [80 examples]"),
            Masked("Accuracy @ 1 = 1.0000 Accuracy @ 5 = 0.0000 [80 examples]"));
  EXPECT_NE(Masked("Accuracy @ 1 = 0.1500 Accuracy @ 5 = 0.5875 [80 examples]"),
            Masked("Accuracy @ 1 = 0.1500 Accuracy @ 5 = 0.5875 [8 examples]"));
  EXPECT_NE(Masked("10\t616.1 examples/sec"), Masked("20\t616.1 examples/sec"));
  EXPECT_EQ(Masked("Batch size:  32 global"), "Batch size:  32 global");
}

}  // namespace
}  // namespace muster
