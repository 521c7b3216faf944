// What a user meets beyond the recorded runs: no flags at all, Ctrl-C, results as JSON, errors of a run.

#include <gtest/gtest.h>
#include <signal.h>

#include <fmt/format.h>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/contract/run_program.h"
#include "tests/testing/idx_files.h"

namespace muster {
namespace {

using testing::Finished;
using testing::Lines;
using testing::RunProgram;
using testing::TemporaryFolder;

TEST(Program, BenchWithoutDeviceSaysThatItTakesTheCpu) {
  TemporaryFolder folder;
  const Finished run = RunProgram({"bench", "--num_batches=2", "--num_warmup_batches=1"}, folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("taking the CPU"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("memory plan: peak "), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("\nDevices:     ['/cpu:0']\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("\nData format: NCHW\n"), std::string::npos) << "the peer refuses this, Muster converts";
}

TEST(Program, BenchWithSimulatedGpusTakesThem) {
  TemporaryFolder folder;
  const Finished run =
      RunProgram({"bench", "--model=lenet", "--simulated_gpus=2", "--num_gpus=2", "--gpu_memory_limit_mb=128",
                  "--batch_size=auto", "--allow_growth", "--num_batches=2", "--num_warmup_batches=1"},
                 folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err.find("taking the CPU"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("--batch_size=auto is "), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("\nDevices:     ['/gpu:0', '/gpu:1']\n"), std::string::npos) << run.out;
}

TEST(Program, CtrlCEndsWithTheTotalSoFar) {
  TemporaryFolder folder;
  bool sent = false;
  const auto interrupt = [&](const std::string& out, int pid) {
    if (!sent && out.find("\n1\timages/sec: ") != std::string::npos) sent = ::kill(pid, SIGINT) == 0;
  };
  const Finished run = RunProgram({"bench", "--device=cpu", "--model=lenet", "--num_batches=1000000", "--json=r.json"},
                                  folder.path(), 60, interrupt);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_NE(run.out.find("total images/sec: "), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("interrupted after "), std::string::npos) << run.err;
  const nlohmann::json json = nlohmann::json::parse(ReadFile(folder.path() + "/r.json"));
  EXPECT_EQ(json.at("exit_state"), "interrupted");
  EXPECT_GT(json.at("images_per_sec").get<double>(), 0);
}

TEST(Program, TheResultFileNamesRateAndMemory) {
  TemporaryFolder folder;
  const Finished run = RunProgram({"bench", "--device=cpu", "--num_batches=3", "--json=r.json"}, folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json json = nlohmann::json::parse(ReadFile(folder.path() + "/r.json"));
  EXPECT_EQ(json.at("exit_state"), "finished");
  EXPECT_GT(json.at("images_per_sec").get<double>(), 0);
  EXPECT_GT(json.at("planned_peak_bytes").get<int64_t>(), 0);
  EXPECT_GT(json.at("measured_peak_bytes").get<int64_t>(), 0);
  EXPECT_EQ(json.at("steps").at("seconds").size(), 3u);
}

// Drawing this model's images takes twice their memory, more than a step does.
TEST(Program, ThePlannedPeakCountsTheDrawingOfFirstValues) {
  TemporaryFolder folder;
  const Finished run = RunProgram({"bench", "--device=cpu", "--model=trivial", "--batch_size=200", "--data_format=NHWC",
                                   "--num_batches=1", "--num_warmup_batches=0", "--json=r.json"},
                                  folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json json = nlohmann::json::parse(ReadFile(folder.path() + "/r.json"));
  const auto planned = json.at("planned_peak_bytes").get<double>(),
             measured = json.at("measured_peak_bytes").get<double>();
  EXPECT_NEAR(measured, planned, 0.03 * planned);
}

// The images that the program keeps are part of it.
TEST(Program, ThePlannedPeakOfTrainingCountsWhatTheProgramHolds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory counts as the process'";
#endif
  constexpr uint32_t kImages = 30000;
  const testing::TempFolder images;
  for (const char* set : {"train", "t10k"}) {
    const uint32_t count = set == std::string("train") ? kImages : 2000;
    images.Write(fmt::format("{}-images-idx3-ubyte", set), testing::ImageBytes(count, 28, 28));
    std::vector<uint8_t> labels(count);
    for (uint32_t i = 0; i < count; ++i) labels[i] = static_cast<uint8_t>(i % 10);
    images.Write(fmt::format("{}-labels-idx1-ubyte", set), testing::LabelBytes(labels));
  }
  TemporaryFolder folder;
  const Finished run = RunProgram(
      {"train", "--dataset=idx:" + images.path().string(), "--num_epochs=1", "--target_accuracy=0", "--json=r.json"},
      folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json json = nlohmann::json::parse(ReadFile(folder.path() + "/r.json"));
  const auto planned = json.at("planned_peak_bytes").get<double>(),
             measured = json.at("measured_peak_bytes").get<double>();
  EXPECT_GT(planned, kImages * 28 * 28);
  EXPECT_NEAR(measured, planned, 0.03 * planned);
}

TEST(Program, ALossThatIsNotFiniteStopsWithStepAndLayerIfTheUserChoseTheRate) {
  TemporaryFolder folder;
  const std::vector<std::string> words = {"bench", "--device=cpu", "--model=lenet", "--init_learning_rate=1e30"};
  const Finished stopped = RunProgram(words, folder.path());
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_NE(stopped.err.find("loss is "), std::string::npos) << stopped.err;
  EXPECT_NE(stopped.err.find(" of all): the "), std::string::npos) << stopped.err;
  std::vector<std::string> going_on = words;
  going_on.insert(going_on.end(), {"--check_nan=false", "--num_batches=2"});
  EXPECT_EQ(RunProgram(going_on, folder.path()).exit_code, 0);
}

// All gradients travel in one bucket: the mean of the towers' losses is behind nothing, and must come before the
// updates that it guards.
TEST(Program, ALossOfSeveralTowersGuardsTheUpdatesOfASingleBucket) {
  TemporaryFolder folder;
  for (const char* towers : {"--num_gpus=2", "--num_gpus=3"}) {
    const Finished run =
        RunProgram({"bench", "--device=cpu", "--model=trivial", "--data_name=cifar10", "--batch_size=2", towers,
                    "--variable_update=replicated", "--weight_decay=0", "--init_learning_rate=0.001", "--check_nan",
                    "--num_batches=2", "--num_warmup_batches=0"},
                   folder.path());
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
}

// Runs "muster words > out", with standard error in the folder's "err".
int StatusOfShell(const std::string& rest, const std::string& folder) {
  const std::string command = fmt::format("cd '{}' && '{}' {}", folder, testing::ProgramPath(), rest);
  return WEXITSTATUS(std::system(command.c_str()));
}

TEST(Program, OutputThatCannotBeWrittenIsAFailureInOneLine) {
  for (const char* words :
       {"--help", "--version", "devices", "bench --help", "train --help", "bench --device=cpu --num_batches=2"}) {
    SCOPED_TRACE(words);
    TemporaryFolder folder;
    EXPECT_EQ(StatusOfShell(fmt::format("{} >/dev/full 2>err", words), folder.path()), 1);
    const std::string err = ReadFile(folder.path() + "/err");
    EXPECT_NE(err.find("cannot write standard output: No space left on device\n"), std::string::npos) << err;
    EXPECT_EQ(Lines(err).size(), 1u) << err;
  }
}

TEST(Program, AResultMayGoToANullDeviceOrBehindALog) {
  TemporaryFolder folder;
  const std::string bench =
      "bench --device=cpu --model=trivial --data_name=cifar10 --num_batches=1 --num_warmup_batches=0 ";
  EXPECT_EQ(StatusOfShell(bench + "--json=/dev/null >out 2>&-", folder.path()), 0);
  const std::string log = folder.path() + "/log";
  WriteFileAtomically(log, "text of an earlier run\n");
  EXPECT_EQ(StatusOfShell(bench + "--json=/dev/stdout >>log 2>err", folder.path()), 0)
      << ReadFile(folder.path() + "/err");
  EXPECT_TRUE(ReadFile(log).starts_with("text of an earlier run\n"));
  EXPECT_NE(ReadFile(log).find("\"format\": \"muster bench 1\""), std::string::npos);
}

TEST(Program, AReaderThatGoesAwayEndsTheRunAndTheResultIsStillWritten) {
  TemporaryFolder folder;
  StatusOfShell("bench --device=cpu --num_batches=1000000 --display_every=1 --json=r.json 2>err | head -n 1 >first",
                folder.path());
  EXPECT_NE(ReadFile(folder.path() + "/err").find("cannot write standard output: Broken pipe\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(ReadFile(folder.path() + "/r.json")).at("exit_state"), "failed");
}

TEST(Program, BadInputIsOneLineAndExitCode2AndLeavesNothing) {
  const std::vector<std::vector<std::string>> cases = {{"bench", "--batch_size=0"},
                                                       {"bench", "--batch_size=-1"},
                                                       {"bench", "--batch_size=many"},
                                                       {"bench", "--num_epochs=1e-9", "--json=r.json"},
                                                       {"bench", "--model=none"},
                                                       {"bench", "--data_name=none"},
                                                       {"bench", "--json=no/r.json"},
                                                       {"bench", "--use_fp16", "--use_bf16", "--json=r.json"},
                                                       {"bench", "--eval_during_training_every_n_steps=0"},
                                                       {"bench", "word"},
                                                       {"bench", "--num_gpus=0"},
                                                       {"bench", "--device=gpu"},
                                                       {"bench", "--benchmark_log_dir=/proc/none"},
                                                       {"bench", "--benchmark_log_dir="},
                                                       {"bench", "--json="},
                                                       {"bench", "--dump_passes="},
                                                       {"bench", "--dump_passes=d", "--json=d"},
                                                       {"train", "--train_dir=d", "--json=d"},
                                                       {"bench", "--network_topology=gcp_v100"},
                                                       {"bnech"},
                                                       {"--nosuch"}};
  for (const std::vector<std::string>& words : cases) {
    SCOPED_TRACE(words.back());
    TemporaryFolder folder;
    const Finished run = RunProgram(words, folder.path());
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(Lines(run.err).size(), 1u) << run.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

}  // namespace
}  // namespace muster
