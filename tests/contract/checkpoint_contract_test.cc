// --train_dir as tf_cnn_benchmarks has it: what is in the folder, what variables and curves are called, where a run
// goes on.
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "data/format/event_file.h"
#include "tests/contract/run_program.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::Words;

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("events.out.tfevents.")) name = "events.out.tfevents.<time>.<host>";
    names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// Kind by tag, of every event file of a folder.
std::map<std::string, std::string> TagsOf(const std::string& folder) {
  std::map<std::string, std::string> tags;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("events.")) continue;
    data::EventFileReader reader(entry.path().string());
    while (const std::optional<data::Event> event = reader.Next())
      for (const data::SummaryValue& value : event->values)
        tags[value.tag] = std::holds_alternative<float>(value.value) ? "simple_value" : "histo";
  }
  return tags;
}

class CheckpointContract : public ::testing::TestWithParam<const char*> {};

TEST_P(CheckpointContract, FilesVariablesAndTagsAreThoseOfTheRecordedRun) {
  const json table = testing::GoldenJson("cnn_benchmarks/checkpoint_names.json");
  const json& recorded = table[GetParam()];
  const testing::TemporaryFolder folder;
  const Finished run = testing::RunProgram(Words(recorded["command"]), folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string train_dir = "names_" + std::string(GetParam());
  EXPECT_EQ(json(FilesOf(folder.path() + "/" + train_dir)), recorded["files"]);

  const Finished list = testing::RunProgram({"checkpoint", "list", train_dir, "--json"}, folder.path());
  json variables = json::array();
  const json listed = json::parse(list.out);
  for (const json& tensor : listed["tensors"]) variables.push_back({tensor["name"], tensor["dtype"], tensor["shape"]});
  EXPECT_EQ(variables, recorded["variables"]);
  EXPECT_EQ(json(TagsOf(folder.path() + "/" + train_dir)), recorded["summary_tags"]);
}

INSTANTIATE_TEST_SUITE_P(Modes, CheckpointContract,
                         ::testing::Values("parameter_server", "replicated_2", "independent_2", "momentum", "adam",
                                           "rmsprop", "fp16_auto"));

std::vector<std::string> TimedSteps(const std::string& out) {
  std::vector<std::string> steps;
  for (const std::string& line : testing::Lines(out))
    if (line.find("\timages/sec: ") != std::string::npos) steps.push_back(line.substr(0, line.find('\t')));
  return steps;
}

// The recorded pair of runs; warm-up steps are trained and count, so 20 and 10 are 30, and 40 asks for 10 more behind
// another 10.
TEST(Resume, GoesOnWhereTheRunBeforeEnded) {
  const json commands = testing::GoldenJson("cnn_benchmarks/commands.json");
  const testing::TemporaryFolder folder;
  const Finished first = testing::RunProgram(Words(commands["train_with_checkpoint"]["command"]), folder.path());
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(TimedSteps(first.out), (std::vector<std::string>{"1", "10", "20"}));
  const std::vector<std::string> files = FilesOf(folder.path() + "/train");
  for (const char* file :
       {"checkpoint", "graph.pbtxt", "model.ckpt-20.index", "model.ckpt-30.index", "model.ckpt-30.meta"})
    EXPECT_TRUE(std::ranges::count(files, file) == 1) << file;

  const Finished second = testing::RunProgram(Words(commands["resume"]["command"]), folder.path());
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(TimedSteps(second.out), (std::vector<std::string>{"1", "10"}));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/train/model.ckpt-50.index"));
}

// The rule of the peer's own test: every 2 steps, keep 3, 20 steps.
TEST(Resume, OnlyTheNewestCheckpointsStay) {
  const testing::TemporaryFolder folder;
  const Finished run = testing::RunProgram(
      {"bench", "--device=cpu", "--model=trivial", "--data_name=cifar10", "--batch_size=4", "--num_batches=20",
       "--num_warmup_batches=0", "--train_dir=t", "--save_model_steps=2", "--max_ckpts_to_keep=3"},
      folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<std::string> indexes;
  for (const std::string& file : FilesOf(folder.path() + "/t"))
    if (file.ends_with(".index")) indexes.push_back(file);
  EXPECT_EQ(indexes, (std::vector<std::string>{"model.ckpt-16.index", "model.ckpt-18.index", "model.ckpt-20.index"}));
}

// Two runs of 6 steps equal one of 12, whatever the mode (the warm-up of the second run is training too).
TEST(Resume, AResumedRunHasTheBitsOfAnUnbrokenOne) {
  for (const char* mode : {"parameter_server", "replicated"}) {
    SCOPED_TRACE(mode);
    const testing::TemporaryFolder folder;
    const auto bench = [&](const std::string& train_dir, int steps) {
      const Finished run = testing::RunProgram(
          {"bench", "--device=cpu", "--data_format=NHWC", "--model=lenet", "--batch_size=4", "--num_gpus=2",
           "--num_warmup_batches=0", "--optimizer=momentum", std::string("--variable_update=") + mode,
           "--local_parameter_device=cpu", "--init_learning_rate=0.001", "--train_dir=" + train_dir,
           "--num_batches=" + std::to_string(steps)},
          folder.path());
      ASSERT_EQ(run.exit_code, 0) << run.err;
    };
    bench("whole", 12);
    bench("parts", 6);
    bench("parts", 12);
    const Finished compared =
        testing::RunProgram({"checkpoint", "compare", "whole/model.ckpt-12", "parts/model.ckpt-12"}, folder.path());
    EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  }
}

// Labels and dropout are drawn by the step, which evaluations do not move.
TEST(Evaluation, ChangesNoBitOfTheTrainingThatItInterrupts) {
  const testing::TemporaryFolder folder;
  for (const char* mode : {"parameter_server", "replicated"}) {
    SCOPED_TRACE(mode);
    const auto bench = [&](const std::string& train_dir, std::vector<std::string> more) {
      more.insert(more.begin(), {"bench", "--device=cpu", "--data_format=NHWC", "--model=resnet20",
                                 "--data_name=cifar10", "--batch_size=2", "--num_gpus=2", "--num_warmup_batches=0",
                                 "--num_batches=4", std::string("--variable_update=") + mode,
                                 "--local_parameter_device=cpu", "--train_dir=" + std::string(mode) + train_dir});
      const Finished run = testing::RunProgram(more, folder.path());
      ASSERT_EQ(run.exit_code, 0) << run.err;
    };
    bench("alone", {});
    bench("interrupted", {"--eval_during_training_every_n_steps=1", "--num_eval_batches=2", "--eval_batch_size=3"});
    const std::string checkpoint = "/model.ckpt-4";
    const Finished compared = testing::RunProgram(
        {"checkpoint", "compare", mode + ("alone" + checkpoint), mode + ("interrupted" + checkpoint)}, folder.path());
    EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  }
}

TEST(Evaluation, OfAFolderIsThatOfItsNewestCheckpoint) {
  const testing::TemporaryFolder folder;
  const std::vector<std::string> common = {
      "bench",          "--device=cpu", "--data_format=NHWC",           "--model=resnet20",     "--data_name=cifar10",
      "--batch_size=2", "--num_gpus=2", "--variable_update=replicated", "--num_eval_batches=3", "--eval_batch_size=16",
      "--train_dir=t",  "--eval_dir=e"};
  const auto accuracy = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    const Finished run = testing::RunProgram(more, folder.path());
    EXPECT_EQ(run.exit_code, 0) << run.err;
    std::string last;
    for (const std::string& line : testing::Lines(run.out))
      if (line.starts_with("Accuracy @ 1")) last = line;
    return last;
  };
  EXPECT_TRUE(accuracy({"--num_warmup_batches=0", "--num_batches=3", "--eval_during_training_at_specified_steps=100"})
                  .ends_with("[96 examples]"));
  EXPECT_TRUE(accuracy({"--eval"}).ends_with("[96 examples]"));
  EXPECT_EQ(accuracy({"--eval", "--train_dir=t/model.ckpt-3"}), accuracy({"--eval"}));
}

// kill -9 at moments that nobody chose, with a checkpoint at every step; MUSTER_KILLS sets how often. Whatever is in
// the folder afterwards is whole, the next run goes on, and the end is that of a run that nobody disturbed.
TEST(Resume, KilledAtAnyMomentItGoesOnAndNoCheckpointIsTorn) {
  const char* wanted = std::getenv("MUSTER_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 3;
  const testing::TemporaryFolder folder;
  const auto words = [](const std::string& train_dir) {
    return std::vector<std::string>{"bench",
                                    "--device=cpu",
                                    "--data_format=NHWC",
                                    "--model=trivial",
                                    "--data_name=cifar10",
                                    "--batch_size=2",
                                    "--num_warmup_batches=0",
                                    "--optimizer=momentum",
                                    "--init_learning_rate=0.001",
                                    "--save_model_steps=1",
                                    "--max_ckpts_to_keep=2",
                                    "--num_batches=20",
                                    "--train_dir=" + train_dir};
  };
  ASSERT_EQ(testing::RunProgram(words("whole"), folder.path()).exit_code, 0);
  std::mt19937 random(7);
  for (int i = 0; i < kills; ++i) {
    int polls_left = std::uniform_int_distribution<int>(0, 40)(random);
    testing::RunProgram(words("parts"), folder.path(), 300, [&](const std::string&, int pid) {
      if (polls_left-- == 0) ::kill(pid, SIGKILL);
    });
    const std::string parts = folder.path() + "/parts";
    if (!std::filesystem::exists(parts) ||
        std::ranges::none_of(FilesOf(parts), [](const std::string& file) { return file.ends_with(".index"); }))
      continue;
    const Finished verify = testing::RunProgram({"checkpoint", "verify", "parts"}, folder.path());
    EXPECT_EQ(verify.exit_code, 0) << verify.out << verify.err;
  }
  const Finished last = testing::RunProgram(words("parts"), folder.path());
  EXPECT_EQ(last.exit_code, 0) << last.err;
  const Finished compared =
      testing::RunProgram({"checkpoint", "compare", "whole/model.ckpt-20", "parts/model.ckpt-20"}, folder.path());
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  for (const std::string& file : FilesOf(folder.path() + "/parts"))
    EXPECT_EQ(file.find(".tmp"), std::string::npos) << file;
}

// Only --use_fp16 keeps a loss scale. Either way back, variables are float32.
TEST(Resume, OnePrecisionGoesOnFromAnotherAndTheLossScaleBeginsAnew) {
  const testing::TemporaryFolder folder;
  int steps = 0;
  for (const char* precision : {"--nouse_fp16", "--use_fp16", "--use_bf16", "--use_fp16", "--use_fp16"}) {
    steps += 2;
    const Finished run = testing::RunProgram(
        {"bench", "--device=cpu", "--data_format=NHWC", "--model=trivial", "--data_name=cifar10", "--batch_size=4",
         "--num_warmup_batches=0", precision, "--train_dir=t", "--num_batches=" + std::to_string(steps)},
        folder.path());
    ASSERT_EQ(run.exit_code, 0) << precision << ": " << run.err;
    const bool is_new = precision == std::string("--use_fp16") && steps < 10;
    const std::string note =
        "t/model.ckpt-" + std::to_string(steps - 2) +
        " lacks loss_scale and loss_scale_normal_steps (of --use_fp16): the loss scale begins at --fp16_loss_scale\n";
    EXPECT_EQ(run.err.find(note) != std::string::npos, is_new) << run.err;
  }
}

// Names differ between the modes ("v/…", "v0/…"); Muster reads either.
TEST(Resume, ACheckpointOfOneModeIsUnderstoodByAnother) {
  const testing::TemporaryFolder folder;
  int steps = 0;
  for (const char* mode : {"parameter_server", "replicated", "independent", "parameter_server"}) {
    steps += 2;
    const Finished run = testing::RunProgram(
        {"bench", "--device=cpu", "--data_format=NHWC", "--model=trivial", "--data_name=cifar10", "--batch_size=4",
         "--num_gpus=2", "--num_warmup_batches=0", std::string("--variable_update=") + mode,
         "--local_parameter_device=cpu", "--train_dir=t", "--num_batches=" + std::to_string(steps)},
        folder.path());
    ASSERT_EQ(run.exit_code, 0) << mode << ": " << run.err;
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/t/model.ckpt-" + std::to_string(steps) + ".index")) << mode;
  }
}

}  // namespace
}  // namespace muster
