// Runs on real images: the recorded ones, and what must hold for every data set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/contract/recorded.h"
#include "tests/contract/run_program.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

using ::testing::EndsWith;
using testing::Finished;
using ::testing::HasSubstr;
using testing::Lines;
using testing::Losses;
using ::testing::Not;
using testing::WriteRecords;

const char* const kShard = "train-00000-of-00001";

std::vector<std::string> Command(const std::string& text) { return testing::Words("tf_cnn_benchmarks.py " + text); }

class DataContract : public ::testing::Test {
 protected:
  std::string Out(const std::string& flags, int exit_code = 0) {
    const Finished finished = testing::RunProgram(Command("--device=cpu --data_format=NHWC " + flags), folder_.path());
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    err_ = finished.err;
    return finished.out;
  }
  testing::TemporaryFolder folder_;
  std::string err_;
};

TEST_F(DataContract, TrainingOnRecordsPrintsTheRecordedLines) {
  const nlohmann::json commands = testing::GoldenJson("cnn_benchmarks/commands.json");
  const nlohmann::json& entry = commands.at("real_data_train");
  WriteRecords(folder_.path() + "/imagenet_clean", kShard, false);
  const Finished ours = testing::RunProgram(testing::Words(entry.at("command")), folder_.path());
  EXPECT_EQ(ours.exit_code, 0) << ours.err;
  EXPECT_EQ(testing::MaskedLines(ours.out), testing::MaskedLines(testing::RecordedOutput(entry)));
  EXPECT_THAT(ours.err, HasSubstr("waited"));
}

// The one recorded run that Muster does not share: tf_cnn_benchmarks stops at a PNG that is named JPEG.
TEST_F(DataContract, APngAmongTheRecordsIsAnImageLikeOthers) {
  WriteRecords(folder_.path() + "/imagenet_records", kShard, true);
  EXPECT_EQ(Losses(Out("--model=lenet --batch_size=4 --display_every=1 --num_batches=6 --num_warmup_batches=0 "
                       "--data_dir=imagenet_records"))
                .size(),
            6u);
}

TEST_F(DataContract, ThreadsAndPrefetchingDoNotChangeARun) {
  WriteRecords(folder_.path() + "/imagenet", kShard, true);
  const std::string flags =
      "--model=lenet --batch_size=5 --display_every=1 --num_batches=4 --num_warmup_batches=1 --data_dir=imagenet "
      "--distortions "
      "--resize_method=round_robin --print_training_accuracy ";
  const std::vector<std::string> losses = Losses(Out(flags + "--datasets_num_private_threads=1"));
  ASSERT_EQ(losses.size(), 4u);
  for (const char* other : {"--datasets_num_private_threads=5", "--nodatasets_use_prefetch", "--datasets_use_caching"})
    EXPECT_EQ(Losses(Out(flags + other)), losses) << other;
  EXPECT_NE(Losses(Out(flags + "--tf_random_seed=5")), losses);
}

TEST_F(DataContract, ARunThatIsResumedGoesOnAtItsPlaceInTheData) {
  WriteRecords(folder_.path() + "/imagenet", kShard, true);
  const std::string flags =
      "--model=lenet --batch_size=4 --display_every=1 --num_warmup_batches=0 --data_dir=imagenet "
      "--init_learning_rate=0.001 ";
  const std::vector<std::string> unbroken = Losses(Out(flags + "--num_batches=7"));
  std::vector<std::string> parts = Losses(Out(flags + "--num_batches=3 --train_dir=t"));
  for (const std::string& loss : Losses(Out(flags + "--num_batches=7 --train_dir=t"))) parts.push_back(loss);
  EXPECT_EQ(parts, unbroken);
}

// tf_cnn_benchmarks stops at an assertion here.
TEST_F(DataContract, StagedVariablesTakeRealImagesToo) {
  WriteRecords(folder_.path() + "/imagenet", kShard, true);
  const std::string flags =
      "--model=lenet --batch_size=4 --display_every=1 --num_warmup_batches=0 --data_dir=imagenet "
      "--init_learning_rate=0.001 --staged_vars ";
  EXPECT_EQ(Losses(Out(flags + "--num_batches=3")).size(), 3u);
}

// One process with two devices reads what one device with the whole batch reads.
TEST_F(DataContract, DevicesShareTheBatchOfOne) {
  const std::string flags =
      "--model=trivial --display_every=1 --num_batches=4 --num_warmup_batches=0 --data_name=cifar10 --distortions "
      "--data_dir=" +
      (testing::GoldenDir() / "cifar10").string() + " --init_learning_rate=0.001 ";
  EXPECT_EQ(Losses(Out(flags + "--batch_size=3 --num_gpus=2")), Losses(Out(flags + "--batch_size=6")));
}

TEST_F(DataContract, ADamagedRecordIsOneLineWithItsPlace) {
  WriteRecords(folder_.path() + "/imagenet", kShard, true);
  const std::string path = folder_.path() + "/imagenet/" + kShard;
  std::string bytes = ReadFile(path);
  bytes[5296 + 200] ^= 1;
  WriteFileAtomically(path, bytes);
  Out("--model=lenet --batch_size=12 --num_batches=2 --data_dir=imagenet", 2);
  EXPECT_EQ(Lines(err_).back(), "muster bench: imagenet/" + std::string(kShard) +
                                    ": record 3 at byte 5296: the checksum of its 1569 bytes is wrong");
  WriteFileAtomically(path, bytes.substr(0, 3000));
  Out("--model=lenet --batch_size=12 --num_batches=2 --data_dir=imagenet", 2);
  EXPECT_EQ(Lines(err_).size(), 1u);
  EXPECT_THAT(Lines(err_).back(), HasSubstr("record 1 at byte 1740: the file ends"));
}

// As tf_cnn_benchmarks trains on whatever files are there, but not without a word.
TEST_F(DataContract, MissingFilesAreNotedAndTrainingGoesOn) {
  WriteRecords(folder_.path() + "/imagenet", "train-00001-of-00002", true);
  Out("--model=trivial --batch_size=4 --num_batches=1 --num_warmup_batches=0 --data_dir=imagenet");
  EXPECT_THAT(err_, HasSubstr("muster bench: imagenet/train-00000-of-00002: the file is missing; the run goes on with "
                              "those that are there\n"));
  Out("--model=trivial --batch_size=4 --num_batches=1 --num_warmup_batches=0 --data_name=cifar10 --data_dir=" +
      (testing::GoldenDir() / "cifar10").string());
  EXPECT_THAT(err_, Not(HasSubstr("missing")));
}

TEST_F(DataContract, AFolderThatIsNoDataSetIsOneLine) {
  Out("--model=lenet --data_dir=no_imagenet_here", 2);
  EXPECT_THAT(Lines(err_).back(), EndsWith("flag --data_dir=no_imagenet_here: there is no such folder"));
  std::filesystem::create_directory(folder_.path() + "/empty_imagenet");
  Out("--model=lenet --data_dir=empty_imagenet", 2);
  EXPECT_THAT(Lines(err_).back(), HasSubstr("the folder has neither files train-*-of-* (TFRecord) nor"));
  std::filesystem::create_directory(folder_.path() + "/empty");
  Out("--model=trivial --data_name=cifar10 --data_dir=empty", 2);
  EXPECT_THAT(Lines(err_).back(), HasSubstr("neither data_batch_1 nor data_batch_1.bin in the folder"));
}

}  // namespace
}  // namespace muster
