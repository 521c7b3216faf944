// The cycle of tf_cnn_benchmarks' own tests: train on black and white images, go on from the checkpoint, evaluate. What
// is learnt must be perfect, for each way to train. "GPUs" are CPU devices here where nothing else is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include "data/format/bundle_reader.h"
#include "tests/contract/flat_images.h"
#include "tests/contract/recorded.h"
#include "tests/contract/run_program.h"

namespace muster {
namespace {

using testing::AccuracyLines;
using ::testing::ElementsAre;
using testing::Finished;
using testing::FlatImage;
using ::testing::HasSubstr;

struct StepOutput {
  double loss = 0, top_1 = -1, top_5 = -1;  // -1: not printed
};

std::vector<StepOutput> Steps(const std::string& out) {
  static const std::regex form("\\)\t([^\t]+)(?:\t([^\t]+)\t([^\t]+))?");
  std::vector<StepOutput> steps;
  for (const std::string& line : testing::Losses(out)) {
    std::smatch match;
    if (!std::regex_match(line, match, form)) continue;
    StepOutput step{.loss = std::stod(match[1])};
    if (match[2].matched) {
      step.top_1 = std::stod(match[2]);
      step.top_5 = std::stod(match[3]);
    }
    steps.push_back(step);
  }
  return steps;
}

std::vector<std::string> CheckpointsIn(const std::string& folder) {
  std::vector<std::string> names;
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".index") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

enum class Data { kCifar10, kImagenetRecords, kImagenetFolders };

struct Cycle {
  std::string name;
  std::vector<std::string> flags;  // beside the fixture's
  int num_batches = 20;
  bool shows_accuracy = true;
  Data data = Data::kCifar10;

  friend std::ostream& operator<<(std::ostream& out, const Cycle& cycle) { return out << cycle.name; }
};

// A folder with the images, and the flags that all rows of the table share. The model's first layer is one unit of
// thousands of inputs: whether it lives, and is not thrown far by a step, is a matter of the seed.
class Fixture {
 public:
  Fixture(Data data, const std::vector<FlatImage>& images, std::vector<std::string> flags) : flags_(std::move(flags)) {
    if (data == Data::kCifar10) testing::WriteCifar10(folder_.path() + "/cifar10", images);
    if (data == Data::kImagenetRecords) testing::WriteImagenetRecords(folder_.path() + "/imagenet", images);
    if (data == Data::kImagenetFolders) testing::WriteImagenetFolders(folder_.path() + "/imagenet", images);
    data_dir_ = data == Data::kCifar10 ? "cifar10" : "imagenet";
  }

  Finished Run(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"bench",
                                      "--device=cpu",
                                      "--model=trivial",
                                      "--data_dir=" + data_dir_,
                                      "--batch_size=2",
                                      "--num_gpus=2",
                                      "--num_intra_threads=1",
                                      "--num_warmup_batches=5",
                                      "--display_every=1",
                                      "--init_learning_rate=0.005",
                                      "--weight_decay=0",
                                      "--tf_random_seed=3",
                                      "--distortions",
                                      "--nodistort_color_in_yiq",
                                      "--datasets_num_private_threads=1"};
    words.insert(words.end(), flags_.begin(), flags_.end());
    words.insert(words.end(), more.begin(), more.end());
    return testing::RunProgram(words, folder_.path());
  }
  std::string In(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  testing::TemporaryFolder folder_;
  std::string data_dir_;
  std::vector<std::string> flags_;
};

class StandardCycle : public ::testing::TestWithParam<Cycle> {};

TEST_P(StandardCycle, TrainsResumesAndEvaluatesToAnAccuracyOfOne) {
  const Cycle& cycle = GetParam();
  const Fixture fixture(cycle.data, testing::BlackAndWhite(cycle.data == Data::kCifar10 ? 0 : 1), cycle.flags);
  const std::string accuracy = cycle.shows_accuracy ? "--print_training_accuracy" : "--noprint_training_accuracy";
  const auto train = [&](int num_batches) {
    return fixture.Run({accuracy, "--train_dir=t", "--num_batches=" + std::to_string(num_batches)});
  };

  const Finished first = train(cycle.num_batches);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::vector<StepOutput> before = Steps(first.out);
  ASSERT_EQ(before.size(), static_cast<size_t>(cycle.num_batches)) << first.out;
  EXPECT_EQ(CheckpointsIn(fixture.In("t")).size(), 1u);

  const Finished second = train(2 * cycle.num_batches);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  const std::vector<StepOutput> after = Steps(second.out);
  ASSERT_EQ(after.size(), static_cast<size_t>(cycle.num_batches - 5)) << "warm-up steps of the first run count";
  EXPECT_EQ(CheckpointsIn(fixture.In("t")).size(), 2u);

  for (const std::vector<StepOutput>& steps : {before, after})
    for (const StepOutput& step : steps) EXPECT_LE(step.loss, 100);
  EXPECT_LE(after.back().loss, 10);
  EXPECT_LE(after.front().loss, 1.01 * before.back().loss + 1e-3) << "the second run goes on from what was learnt";
  EXPECT_EQ(after.back().top_1, cycle.shows_accuracy ? 1 : -1);
  EXPECT_EQ(after.back().top_5, cycle.shows_accuracy ? 1 : -1);

  const Finished evaluation = fixture.Run({"--eval", "--train_dir=t", "--eval_dir=e", "--num_batches=4"});
  ASSERT_EQ(evaluation.exit_code, 0) << evaluation.err;
  EXPECT_THAT(AccuracyLines(evaluation.out), ElementsAre("Accuracy @ 1 = 1.0000 Accuracy @ 5 = 1.0000 [16 examples]"));
}

std::string NameOf(const ::testing::TestParamInfo<Cycle>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Ways, StandardCycle,
    ::testing::Values(
        Cycle{"alexnet", {"--model=alexnet", "--init_learning_rate=0.01"}, 30},
        Cycle{"no_accuracy_printed", {}, 20, false}, Cycle{"parameter_server", {"--variable_update=parameter_server"}},
        Cycle{"staged", {"--staged_vars"}}, Cycle{"replicated", {"--variable_update=replicated"}},
        Cycle{"independent", {"--variable_update=independent", "--tf_random_seed=7"}},
        Cycle{"no_distortions", {"--nodistortions"}}, Cycle{"parameters_on_cpu", {"--local_parameter_device=cpu"}},
        Cycle{"nhwc", {"--data_format=NHWC"}}, Cycle{"simulated_gpus", {"--device=gpu", "--simulated_gpus=2"}},
        Cycle{"momentum", {"--optimizer=momentum", "--momentum=0.8"}},
        Cycle{"rmsprop_replicated", {"--optimizer=rmsprop", "--variable_update=replicated"}},
        Cycle{"batch_group_size", {"--batch_group_size=4", "--tf_random_seed=1"}, 100},
        Cycle{"gradient_clip", {"--gradient_clip=100"}}, Cycle{"weight_decay", {"--weight_decay=1e-4"}},
        Cycle{"without_layers_library", {"--nouse_tf_layers"}}, Cycle{"fp16", {"--use_fp16", "--fp16_loss_scale=1"}},
        Cycle{"fp16_variables", {"--use_fp16", "--fp16_vars"}},
        Cycle{"fp16_auto_loss_scale",
              {"--use_fp16", "--fp16_enable_auto_loss_scale", "--fp16_inc_loss_scale_every_n=4"}},
        Cycle{"bf16", {"--use_bf16"}}, Cycle{"xla", {"--xla_compile"}},
        Cycle{"repacking", {"--variable_update=replicated", "--gradient_repacking=2"}},
        Cycle{"repacking_fp16",
              {"--variable_update=replicated", "--gradient_repacking=2", "--use_fp16", "--tf_random_seed=7"}},
        Cycle{"summaries", {"--summary_verbosity=3", "--save_summaries_steps=5"}}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Imagenet, StandardCycle,
    ::testing::Values(Cycle{"records", {}, 20, true, Data::kImagenetRecords},
                      Cycle{"records_without_distortions", {"--nodistortions"}, 20, true, Data::kImagenetRecords},
                      Cycle{"records_with_summaries",
                            {"--summary_verbosity=2", "--save_summaries_steps=10"},
                            20,
                            true,
                            Data::kImagenetRecords},
                      Cycle{"folders", {}, 20, true, Data::kImagenetFolders}),
    NameOf);

TEST(StandardCycleRows, ForwardOnlyTrainsNothing) {
  const Fixture fixture(Data::kCifar10, testing::BlackAndWhite(), {"--forward_only", "--num_batches=5"});
  for (const char* more : {"--train_dir=t", "--freeze_when_forward_only"}) {
    const Finished run = fixture.Run({more});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::vector<StepOutput> steps = Steps(run.out);
    ASSERT_EQ(steps.size(), 5u);
    for (const StepOutput& step : steps) EXPECT_EQ(step.loss, 0);
  }
}

TEST(StandardCycleRows, SyntheticCifar10GoesThroughTheCycle) {
  const Fixture fixture(Data::kCifar10, {}, {"--data_dir=", "--data_name=cifar10", "--train_dir=t"});
  for (const char* batches : {"--num_batches=10", "--num_batches=20"}) {
    const Finished run = fixture.Run({batches});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(Steps(run.out).size(), batches == std::string("--num_batches=10") ? 10u : 5u);
  }
  EXPECT_EQ(AccuracyLines(fixture.Run({"--eval", "--eval_dir=e", "--num_batches=4"}).out).size(), 1u);
}

// Ten images that are the same, with ten labels: nobody can tell them apart.
TEST(StandardCycleRows, WhatCannotBeLearntIsNot) {
  std::vector<FlatImage> same;
  for (int label = 0; label < 10; ++label) same.push_back({label, 100});
  const Fixture fixture(Data::kCifar10, same, {"--batch_size=5", "--nodistortions", "--train_dir=t"});
  ASSERT_EQ(fixture.Run({"--num_batches=50"}).exit_code, 0);
  const Finished evaluation = fixture.Run({"--eval", "--eval_dir=e", "--num_batches=1"});
  EXPECT_THAT(AccuracyLines(evaluation.out), ElementsAre("Accuracy @ 1 = 0.1000 Accuracy @ 5 = 0.5000 [10 examples]"))
      << evaluation.err;
}

// Paths in a folder of checkpoints are relative, and one checkpoint can be named.
TEST(StandardCycleRows, AMovedFolderIsEvaluatedAndSoIsOneCheckpoint) {
  const Fixture fixture(Data::kCifar10, testing::BlackAndWhite(), {"--eval_dir=e"});
  ASSERT_EQ(fixture.Run({"--train_dir=t", "--num_batches=20", "--save_model_steps=10"}).exit_code, 0);
  std::filesystem::rename(fixture.In("t"), fixture.In("moved"));
  const auto evaluate = [&](const std::string& train_dir) {
    return fixture.Run({"--eval", "--train_dir=" + train_dir, "--num_batches=4"});
  };
  EXPECT_THAT(evaluate("moved").out, HasSubstr("Successfully loaded model from moved/model.ckpt-25.\n"));
  EXPECT_THAT(evaluate("moved/model.ckpt-15").out, HasSubstr("Successfully loaded model from moved/model.ckpt-15.\n"));
  const Finished missing = evaluate("moved/model.ckpt-16");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("model.ckpt-16"));
}

TEST(StandardCycleRows, TwoRunsKeepTheNewestThreeCheckpoints) {
  const Fixture fixture(Data::kCifar10, testing::BlackAndWhite(),
                        {"--num_warmup_batches=0", "--save_model_steps=2", "--max_ckpts_to_keep=3", "--train_dir=t"});
  ASSERT_EQ(fixture.Run({"--num_batches=10"}).exit_code, 0);
  ASSERT_EQ(fixture.Run({"--num_batches=20"}).exit_code, 0);
  EXPECT_THAT(CheckpointsIn(fixture.In("t")), ElementsAre("model.ckpt-16", "model.ckpt-18", "model.ckpt-20"));
}

// The running statistics of batch norms in a checkpoint, by name.
std::map<std::string, std::vector<float>> BatchNormStatistics(const std::string& prefix) {
  const data::BundleReader checkpoint(prefix);
  std::map<std::string, std::vector<float>> statistics;
  for (const data::BundleEntry& entry : checkpoint.entries()) {
    if (!entry.name.ends_with("/moving_mean") && !entry.name.ends_with("/moving_variance")) continue;
    const Tensor value = checkpoint.Read(entry.name);
    statistics[entry.name].assign(value.data<float>().begin(), value.data<float>().end());
  }
  return statistics;
}

TEST(StandardCycleRows, StatisticsOfBatchNormComeBackOnTwoGpus) {
  const Fixture fixture(Data::kCifar10, {},
                        {"--data_dir=", "--model=resnet50", "--batch_size=1", "--variable_update=replicated",
                         "--device=gpu", "--simulated_gpus=2", "--num_warmup_batches=0", "--save_model_steps=1"});
  ASSERT_EQ(fixture.Run({"--train_dir=t", "--num_batches=2"}).exit_code, 0);
  const auto saved = BatchNormStatistics(fixture.In("t/model.ckpt-2"));
  EXPECT_EQ(saved.size(), 2u * 53u) << "two of each batch norm, those of the first GPU";
  for (const auto& [name, values] : saved)
    EXPECT_TRUE(std::ranges::any_of(values, [&](float value) {
      return value != (name.ends_with("mean") ? 0.0f : 1.0f);
    })) << name;
  const Finished resumed = fixture.Run({"--train_dir=t", "--num_batches=3"});
  EXPECT_EQ(Steps(resumed.out).size(), 1u) << resumed.out << resumed.err;
  ASSERT_EQ(fixture.Run({"--train_dir=unbroken", "--num_batches=3"}).exit_code, 0);
  EXPECT_EQ(BatchNormStatistics(fixture.In("t/model.ckpt-3")),
            BatchNormStatistics(fixture.In("unbroken/model.ckpt-3")));
}

}  // namespace
}  // namespace muster
