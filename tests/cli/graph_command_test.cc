#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/commands.h"
#include "muster/error.h"
#include "muster/models.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Output(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(GraphCommand(words), 0);
  return ::testing::internal::GetCapturedStdout();
}

std::string ErrorOf(const std::vector<std::string>& words) {
  try {
    GraphCommand(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

// Published numbers of ResNet-50 with 1001 classes: golden/models.json.
TEST(GraphCommand, TheTableHasALineForEachLayerAndTheTotals) {
  const std::string text = Output({"--model=resnet50", "--batch_size=1"});
  EXPECT_THAT(text, StartsWith("resnet50 for imagenet: batch 1, 25,559,081 parameters and 53,120 other values"));
  EXPECT_THAT(text, ::testing::ContainsRegex("cg/conv0 +float32\\[1,112,112,64\\] +/device:CPU:0 .* 9,536 +118.01 "));
  EXPECT_THAT(text, ::testing::ContainsRegex("cg/affine0 +float32\\[1,1001\\] .* 2,051,049 +2.05 "));
  EXPECT_THAT(text, ::testing::ContainsRegex("\ntotal .* 25,559,081 +3857.98 +7723.38 "));
}

TEST(GraphCommand, JsonHasTheSameNumbers) {
  const auto json = nlohmann::json::parse(Output({"--model=lenet", "--batch_size=2", "--json"}));
  EXPECT_EQ(json["dataset"], "imagenet");
  EXPECT_EQ(json["total"]["parameters"], 2173353);
  EXPECT_EQ(json["total"]["multiply_adds"], 2 * 14034944);
  bool found = false;
  for (const auto& layer : json["layers"])
    if (layer["name"] == "cg/affine0") {
      found = true;
      EXPECT_EQ(layer["output"], (std::vector<int64_t>{2, 512}));
    }
  EXPECT_TRUE(found);
}

TEST(GraphCommand, TrainingCostsThreeTimesTheArithmeticLessOneInputGradient) {
  const auto inference = nlohmann::json::parse(Output({"--model=resnet20", "--batch_size=4", "--json"}));
  const auto training = nlohmann::json::parse(Output({"--model=resnet20", "--batch_size=4", "--training", "--json"}));
  const double forward = inference["total"]["multiply_adds"], all = training["total"]["multiply_adds"];
  EXPECT_LE(all, 3 * forward);
  EXPECT_GE(all, 2.9 * forward);
}

TEST(GraphCommand, EveryFormIsWritten) {
  EXPECT_THAT(Output({"--model=trivial", "--format=text"}), HasSubstr("cg/affine0/MatMul = MatMul("));
  EXPECT_THAT(Output({"--model=trivial", "--format=dot"}), HasSubstr("digraph"));
  EXPECT_THAT(Output({"--model=trivial", "--format=pbtxt"}), HasSubstr("op: \"MatMul\""));
  const std::string file = ::testing::TempDir() + "graph_command_test.pb";
  Output({"--model=trivial", "--format=graphdef", "--output=" + file});
  EXPECT_THAT(ReadFile(file), HasSubstr("cg/affine0/MatMul"));
  std::filesystem::remove(file);
}

TEST(GraphCommand, PlacementIsLoggedAsTensorFlowDoes) {
  EXPECT_THAT(Output({"--model=trivial", "--log_device_placement"}),
              HasSubstr("cg/affine0/MatMul: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0\n"));
}

TEST(GraphCommand, WhatSoftPlacementMovedIsSaidOnStandardError) {
  ::testing::internal::CaptureStderr();
  Output({"--model=trivial", "--device=/gpu:5", "--log_device_placement"});
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("muster graph: cg/affine0/MatMul: (MatMul): asked for /device:GPU:5, got "
                        "/job:localhost/replica:0/task:0/device:CPU:0: no such device\n"));
  EXPECT_THROW(
      GraphCommand({"--model=trivial", "--device=/gpu:5", "--placed", "--format=text", "--noallow_soft_placement"}),
      Error);
}

TEST(GraphCommand, PartitionsListEachDevicesSteps) {
  const std::string text =
      Output({"--model=trivial", "--batch_size=2", "--device=/cpu:1", "--num_cpu_devices=2", "--partitions"});
  EXPECT_THAT(text,
              ::testing::ContainsRegex("\n?/job:localhost/replica:0/task:0/device:CPU:1: [0-9]+ steps, [0-9.]+ MiB"));
  EXPECT_THAT(text, ::testing::ContainsRegex(" 0 Conv2D|_FusedMatMul +cg/affine0/"));
  EXPECT_THAT(text, HasSubstr("No transfers between devices.\n"));
  const auto json =
      nlohmann::json::parse(Output({"--model=trivial", "--batch_size=2", "--training", "--partitions", "--json"}));
  EXPECT_EQ(json["partitions"].size(), 1u);
  EXPECT_GT(json["partitions"][0]["steps"].size(), 5u);
  EXPECT_EQ(json["transfer_bytes"], 0);
}

TEST(GraphCommand, TowersSendWhatTheirModeSays) {
  auto plan = [](const std::string& mode) {
    return nlohmann::json::parse(
        Output({"--model=resnet20", "--batch_size=2", "--training", "--num_gpus=2", "--partitions", "--json",
                "--local_parameter_device=cpu", "--variable_update=" + mode}));
  };
  const auto shared = plan("parameter_server"), independent = plan("independent");
  ASSERT_EQ(shared["partitions"].size(), 2u);
  // The second tower's copy of all trainable values comes, and its gradients go: 4 bytes for each of them.
  int64_t down = 0, up = 0;
  for (const auto& t : shared["transfers"]) {
    const std::string from = t["from"];
    (from.back() == '0' ? down : up) += t["bytes"].get<int64_t>();
  }
  const int64_t parameters =
      nlohmann::json::parse(Output({"--model=resnet20", "--batch_size=2", "--json"}))["total"]["parameters"]
          .get<int64_t>();
  // Not much more: some kernels want their weights padded.
  for (int64_t bytes : {down, up}) {
    EXPECT_GE(bytes, 4 * parameters);
    EXPECT_LT(bytes, 8 * parameters);
  }
  EXPECT_LT(independent["transfer_bytes"], 4096);  // losses and tokens
}

TEST(GraphCommand, ExportsKeepTheDevicesAskedForOrShowThoseGiven) {
  const std::vector<std::string> words = {"--model=trivial", "--device=/gpu:5", "--format=pbtxt"};
  EXPECT_THAT(Output(words), HasSubstr("device: \"/device:GPU:5\""));
  std::vector<std::string> placed = words;
  placed.push_back("--placed");
  const std::string text = Output(placed);
  EXPECT_THAT(text, HasSubstr("device: \"/job:localhost/replica:0/task:0/device:CPU:0\""));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("GPU")));
}

TEST(GraphCommand, TheListNamesEveryModelWithItsSize) {
  // Multiply-adds and floating-point operations are those of golden/models.json.
  EXPECT_THAT(Output({"--list"}),
              ::testing::ContainsRegex("imagenet +resnet50_v1.5 +224 +64 +25,559,081 +4089.19 +8185.80 +[0-9.]+\n"));
  const auto models = nlohmann::json::parse(Output({"--list", "--json"}))["models"];
  EXPECT_EQ(models.size(), Models().size());
  for (const auto& model : models) EXPECT_GT(model["activation_bytes"].get<int64_t>(), 0) << model;
}

TEST(GraphCommand, NothingMovesToAnotherDeviceWithoutAWord) {
  for (const char* what : {"--partitions", "--log_device_placement"}) {
    ::testing::internal::CaptureStderr();
    Output({"--model=trivial", "--device=/cpu:5", what});
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("CPU:5")) << what;
  }
}

TEST(GraphCommand, BadRequestsAreOneLine) {
  EXPECT_EQ(ErrorOf({"--list", "--model=foo"}), "--model has no effect with --list, which shows all models");
  EXPECT_THAT(ErrorOf({"--model=resnet51"}), StartsWith("--model=resnet51: no such model (did you mean "));
  EXPECT_THAT(ErrorOf({"--model=resnet50", "--data_name=cifar10"}),
              StartsWith("Invalid model name 'resnet50' for dataset 'cifar10'"));
  EXPECT_THAT(ErrorOf({"--data_name=cifar"}), StartsWith("Invalid dataset name 'cifar'"));
  EXPECT_THAT(ErrorOf({"--optimizer=adam"}), StartsWith("--optimizer has no effect without --training"));
  EXPECT_THAT(ErrorOf({"--json", "--format=dot"}), StartsWith("--json and --format=dot exclude each other"));
  EXPECT_THAT(ErrorOf({"--batch_size=0"}), HasSubstr("batch_size"));
  EXPECT_THAT(ErrorOf({"--num_gpus=2"}), StartsWith("--num_gpus has no effect without --training"));
  EXPECT_THAT(ErrorOf({"--variable_update=replicated"}),
              StartsWith("--variable_update has no effect without --num_gpus"));
  EXPECT_THAT(ErrorOf({"--num_gpus=2", "--training", "--device=/job:x"}),
              StartsWith("--num_gpus needs --device=cpu or gpu"));
  EXPECT_THAT(ErrorOf({"--partitions", "--log_device_placement"}), HasSubstr("exclude each other"));
  EXPECT_THAT(ErrorOf({"--partitions", "--format=dot"}), StartsWith("--format=dot has no effect with --partitions"));
  EXPECT_THAT(ErrorOf({"--placed"}), StartsWith("--placed needs --format=text"));
  EXPECT_THAT(ErrorOf({"--num_cpu_devices=2"}), StartsWith("--num_cpu_devices has no effect without --partitions"));
  EXPECT_THAT(ErrorOf({"--device=/job:x/tusk:1"}), HasSubstr("cannot read \"tusk:1\""));
  EXPECT_THROW(GraphCommand({"--output=/nonexistent/folder/x.pb"}), Error);
  EXPECT_THROW(GraphCommand({"resnet50"}), Error);
}

TEST(GraphCommand, MoreTowersThanDevicesAreRefused) {
  const std::vector<std::string> towers = {"--model=lenet", "--training", "--num_gpus=3", "--partitions"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), towers.begin(), towers.end());
    return ErrorOf(words);
  };
  EXPECT_EQ(with({"--device=gpu", "--simulated_gpus=2"}),
            "--num_gpus=3: there are 2 GPUs (--simulated_gpus, --visible_device_list, --virtual_gpus_mb)");
  EXPECT_EQ(with({"--device=cpu", "--num_cpu_devices=1"}), "--num_gpus=3: there is 1 CPU device (--num_cpu_devices)");
  EXPECT_EQ(with({"--simulated_gpus=2", "--visible_device_list=1"}),
            "--num_gpus=3: there is 1 GPU (--simulated_gpus, --visible_device_list, --virtual_gpus_mb)");
}

TEST(GraphCommand, TowersGoToTheDevicesOfASplitCard) {
  const std::string text = Output({"--model=lenet", "--training", "--num_gpus=3", "--partitions", "--simulated_gpus=2",
                                   "--virtual_gpus_mb=512+512"});
  EXPECT_THAT(text, HasSubstr("/device:GPU:2: "));
  EXPECT_THAT(ErrorOf({"--model=lenet", "--virtual_gpus_mb=512"}),
              HasSubstr("--virtual_gpus_mb has no effect without --partitions"));
}

// The mean and the variance of one batch norm are two values.
TEST(GraphCommand, AnOutputOfATransferHasItsNumber) {
  const auto json = nlohmann::json::parse(
      Output({"--model=resnet20", "--data_name=cifar10", "--batch_size=2", "--training", "--num_gpus=2", "--device=gpu",
              "--local_parameter_device=cpu", "--partitions", "--json"}));
  std::set<std::string> sent;
  bool has_numbered = false;
  for (const auto& transfer : json["transfers"]) {
    const std::string value = transfer["value"];
    EXPECT_TRUE(sent.insert(value + " to " + transfer["to"].get<std::string>()).second) << value;
    has_numbered |= value.ends_with(":1") || value.ends_with(":2");
  }
  EXPECT_TRUE(has_numbered);
}

}  // namespace
}  // namespace muster::cli
