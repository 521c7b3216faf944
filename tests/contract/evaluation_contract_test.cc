// Evaluations of real images: the recorded run, and what must hold for every data set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/contract/flat_images.h"
#include "tests/contract/recorded.h"
#include "tests/contract/run_program.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

using testing::AccuracyLines;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Finished;
using ::testing::HasSubstr;
using testing::Lines;
using testing::Losses;
using testing::WriteRecords;

constexpr char kTrain[] = "train-00000-of-00001", kValidation[] = "validation-00000-of-00001";

// Learns to tell black from white. The model's first layer is one unit, which most seeds leave dead.
const std::string kTwoLevels =
    "--model=trivial --init_learning_rate=0.005 --weight_decay=0 --batch_size=8 --train_dir=t --num_warmup_batches=0 "
    "--tf_random_seed=5 ";

class EvaluationContract : public ::testing::Test {
 protected:
  std::string Out(const std::string& flags, int exit_code = 0) {
    const Finished finished = testing::RunProgram(
        testing::Words("tf_cnn_benchmarks.py --device=cpu --data_format=NHWC " + flags), folder_.path());
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    err_ = finished.err;
    return finished.out;
  }
  // A few steps of a network on the golden records, with its checkpoint in "t".
  void TrainOnRecords() {
    for (const char* shard : {kTrain, kValidation}) WriteRecords(In("imagenet"), shard, true);
    Out(records_ + "--batch_size=4 --num_batches=6 --num_warmup_batches=0 --optimizer=momentum");
  }
  std::string In(const std::string& name) const { return folder_.path() + "/" + name; }

  const std::string records_ = "--model=lenet --data_dir=imagenet --init_learning_rate=0.02 --train_dir=t ";
  testing::TemporaryFolder folder_;
  std::string err_;
};

TEST_F(EvaluationContract, OfRecordsPrintsTheRecordedLines) {
  const nlohmann::json commands = testing::GoldenJson("cnn_benchmarks/commands.json");
  for (const char* shard : {kTrain, kValidation}) WriteRecords(In("imagenet_clean"), shard, false);
  for (const char* name : {"real_data_train", "real_data_eval"}) {
    SCOPED_TRACE(name);
    const nlohmann::json& entry = commands.at(name);
    const Finished ours = testing::RunProgram(testing::Words(entry.at("command")), folder_.path());
    EXPECT_EQ(ours.exit_code, entry.at("exit_code").get<int>()) << ours.err;
    EXPECT_EQ(testing::MaskedLines(ours.out), testing::MaskedLines(testing::RecordedOutput(entry)));
    err_ = ours.err;
  }
  EXPECT_THAT(err_, HasSubstr("an evaluation takes 12 images, but there are 11: it begins again with the first"));
}

TEST_F(EvaluationContract, ThreadsDevicesAndPrefetchingDoNotChangeIt) {
  TrainOnRecords();
  const std::string once = records_ + "--eval --eval_dir=e ";
  const std::vector<std::string> expected = AccuracyLines(Out(once + "--batch_size=6 --num_batches=2"));
  ASSERT_EQ(expected.size(), 1u);
  EXPECT_THAT(expected[0], ::testing::EndsWith(" [12 examples]"));
  for (const char* other :
       {"--batch_size=6 --num_batches=2 --datasets_num_private_threads=5",
        "--batch_size=6 --num_batches=2 --nodatasets_use_prefetch", "--batch_size=3 --num_gpus=2 --num_batches=2",
        "--batch_size=3 --num_batches=4", "--batch_size=12 --num_batches=1",
        "--batch_size=6 --eval_batch_size=4 --num_batches=50 --num_eval_batches=3",
        "--batch_size=12 --num_batches=3 --datasets_use_caching"})
    EXPECT_EQ(AccuracyLines(Out(once + other)).at(0).substr(0, 40), expected[0].substr(0, 40)) << other;
}

// Each evaluation has the same images, and sees the weights that a checkpoint of that moment has.
TEST_F(EvaluationContract, DuringTrainingIsThatOfTheCheckpointAndChangesNoLoss) {
  TrainOnRecords();
  const std::string steps =
      "--model=lenet --data_dir=imagenet --init_learning_rate=0.02 --optimizer=momentum --batch_size=4 "
      "--num_warmup_batches=0 --display_every=1 ";
  const std::string alone = Out(steps + "--num_batches=6");
  const std::string evaluated = Out(steps +
                                    "--num_batches=6 --eval_during_training_every_n_steps=2 --num_eval_batches=2 "
                                    "--eval_batch_size=6 --train_dir=u --save_model_steps=2");
  EXPECT_EQ(Losses(evaluated), Losses(alone));
  std::vector<std::string> of_checkpoints;
  for (const char* step : {"2", "4", "6"})
    of_checkpoints.push_back(AccuracyLines(Out("--model=lenet --data_dir=imagenet --eval --eval_dir=e --batch_size=6 "
                                               "--num_batches=2 --train_dir=u/model.ckpt-" +
                                               std::string(step)))
                                 .at(0));
  EXPECT_EQ(AccuracyLines(evaluated), of_checkpoints);
}

// The second of two files is replaced by one in which all labels are wrong: half of the first 8 images are its.
TEST_F(EvaluationContract, RecordFilesAreReadInTurnAsByThePeer) {
  testing::WriteImagenetRecords(In("imagenet"), testing::BlackAndWhite(1));
  const std::string train = kTwoLevels + "--data_dir=imagenet ";
  Out(train + "--num_batches=30");
  testing::WriteImagenetRecords(In("wrong"), std::vector<testing::FlatImage>(16, {2, 0}));
  std::filesystem::rename(In("wrong/validation-00001-of-00002"), In("imagenet/validation-00001-of-00002"));
  EXPECT_THAT(AccuracyLines(Out(train + "--eval --eval_dir=e --num_batches=1")),
              ElementsAre(HasSubstr("Accuracy @ 1 = 0.5000")));
  EXPECT_THAT(
      AccuracyLines(Out(train + "--eval --eval_dir=e --num_batches=1 --datasets_parallel_interleave_cycle_length=1")),
      ElementsAre(HasSubstr("Accuracy @ 1 = 1.0000")));
  EXPECT_THAT(err_,
              HasSubstr("an evaluation takes the first 8 of 16 validation images; --num_eval_batches=2 takes all"));
}

// The three forms of ImageNet and both of CIFAR-10 are one data set each.
TEST_F(EvaluationContract, TheFormOfTheFilesDoesNotMatter) {
  testing::WriteImagenetRecords(In("imagenet_records"), testing::BlackAndWhite(1));
  testing::WriteImagenetFolders(In("imagenet_folders"), testing::BlackAndWhite(1));
  const std::string flags = kTwoLevels;
  Out(flags + "--data_dir=imagenet_records --num_batches=30");
  const Finished cache = testing::RunProgram(
      {"data", "cache", "--data_dir=imagenet_folders", "--cache_dir=imagenet_cache"}, folder_.path());
  ASSERT_EQ(cache.exit_code, 0) << cache.err;
  for (const char* form : {"imagenet_records", "imagenet_folders", "imagenet_cache"})
    EXPECT_THAT(AccuracyLines(Out(flags + "--eval --eval_dir=e --num_batches=2 --data_dir=" + form)),
                ElementsAre("Accuracy @ 1 = 1.0000 Accuracy @ 5 = 1.0000 [16 examples]"));
  const std::string cifar = "--model=resnet20 --data_name=cifar10 --batch_size=3 --train_dir=c --data_dir=" +
                            (testing::GoldenDir() / "cifar10").string();
  Out(cifar + "/cifar-10-batches-py --num_batches=3 --num_warmup_batches=0 --init_learning_rate=0.01");
  EXPECT_EQ(AccuracyLines(Out(cifar + "/cifar-10-batches-py --eval --eval_dir=e --num_batches=1")),
            AccuracyLines(Out(cifar + "/cifar-10-batches-bin --eval --eval_dir=e --num_batches=1")));
}

TEST_F(EvaluationContract, AReachedTargetEndsTheTraining) {
  testing::WriteCifar10(In("cifar10"), testing::BlackAndWhite());
  const std::string train =
      "--model=trivial --data_dir=cifar10 --init_learning_rate=0.005 --weight_decay=0 --batch_size=8 "
      "--num_warmup_batches=0 --display_every=1 --num_batches=60 ";
  const std::string out =
      Out(train + "--eval_during_training_every_n_steps=30 --num_eval_batches=2 --stop_at_top_1_accuracy=1");
  EXPECT_EQ(Losses(out).size(), 30u);
  EXPECT_THAT(AccuracyLines(out), ElementsAre("Accuracy @ 1 = 1.0000 Accuracy @ 5 = 1.0000 [16 examples]"));
  EXPECT_THAT(Lines(out), Contains("Stopping, as eval accuracy at least 1.0 was reached"));
}

TEST_F(EvaluationContract, WithoutValidationImagesItIsRefusedInOneLine) {
  WriteRecords(In("imagenet"), kTrain, true);
  for (const char* mode : {"--eval", "--eval_during_training_every_n_steps=2"}) {
    Out(records_ + mode, 2);
    EXPECT_EQ(Lines(err_).size(), 1u) << err_;
    EXPECT_THAT(err_,
                HasSubstr("flag --data_dir=imagenet: the folder has neither files validation-*-of-* (TFRecord) nor"));
    EXPECT_FALSE(std::filesystem::exists(In("t")));
  }
}

TEST_F(EvaluationContract, ADamagedRecordIsOneLineWithItsPlace) {
  TrainOnRecords();
  std::string bytes = ReadFile(In("imagenet/") + kValidation);
  bytes[5296 + 200] ^= 1;
  WriteFileAtomically(In("imagenet/") + kValidation, bytes);
  Out(records_ + "--eval --eval_dir=e --batch_size=12 --num_batches=1", 2);
  EXPECT_EQ(Lines(err_).back(), "muster bench: imagenet/" + std::string(kValidation) +
                                    ": record 3 at byte 5296: the checksum of its 1569 bytes is wrong");
}

}  // namespace
}  // namespace muster
