#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "cli/dispatch.h"
#include "tests/testing/idx_files.h"

namespace muster::cli {
namespace {

using ::muster::testing::Gzip;
using ::muster::testing::IdxBytes;
using ::muster::testing::ImageBytes;
using ::muster::testing::LabelBytes;
using ::muster::testing::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Output {
  int exit_code;
  std::string out, err;
};

Output RunMuster(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int exit_code = Dispatch(words);
  return {exit_code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

// Dark images are class 0, bright ones class 1.
void WriteDarkAndBright(const TempFolder& folder, uint32_t count, const std::string& images,
                        const std::string& labels) {
  constexpr uint32_t kSide = 8;
  std::string pixels;
  std::vector<uint8_t> classes;
  for (uint32_t i = 0; i < count; ++i) {
    classes.push_back(i % 2);
    pixels.append(kSide * kSide, static_cast<char>(i % 2 == 0 ? 10 + i : 200 + i));
  }
  folder.Write(images, Gzip(IdxBytes(0x08, {count, kSide, kSide}, pixels)));
  folder.Write(labels, LabelBytes(classes));
}

class TrainCommandTest : public ::testing::Test {
 protected:
  TrainCommandTest() {
    WriteDarkAndBright(folder_, 40, "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte");
    WriteDarkAndBright(folder_, 10, "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte");
  }

  Output Train(std::vector<std::string> words) {
    words.insert(words.begin(), {"train", "--dataset=idx:" + folder_.path().string(), "--model=cnn", "--batch_size=8",
                                 "--eval_batch_size=4", "--num_intra_threads=1"});
    return RunMuster(words);
  }
  std::string PathOf(const std::string& name) const { return (folder_.path() / name).string(); }

  // Bad input: exit code 2, one line on standard error, nothing on standard output.
  void ExpectRefused(const Output& output, const std::string& what) {
    EXPECT_EQ(output.exit_code, kBadInput);
    EXPECT_EQ(output.out, "");
    EXPECT_THAT(output.err, AllOf(StartsWith("muster train: "), HasSubstr(what)));
    EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1) << output.err;
  }

  TempFolder folder_;
};

TEST_F(TrainCommandTest, TrainsAFolderOfIdxFilesToItsTargetAndWritesTheResult) {
  const Output output = Train(
      {"--target_accuracy=1", "--num_epochs=30", "--json=" + PathOf("result.json"), "--train_dir=" + PathOf("run")});
  EXPECT_EQ(output.exit_code, kSuccess) << output.out << output.err;
  EXPECT_THAT(output.out, AllOf(HasSubstr("test accuracy 1.0000"),
                                HasSubstr("Reached the target test accuracy of 1 in "), HasSubstr("time to accuracy")));
  std::ifstream file(PathOf("result.json"));
  const nlohmann::json result = nlohmann::json::parse(file);
  EXPECT_EQ(result["result"]["outcome"], "target_reached");
  EXPECT_EQ(result["dataset"]["num_classes"], 2);
  EXPECT_EQ(result["dataset"]["train_images"], 40);
  EXPECT_GT(result["planned_peak_bytes"], 0);
  EXPECT_GT(result["measured_peak_bytes"], 0);
  std::ifstream copy(PathOf("run/train.json"));
  EXPECT_EQ(nlohmann::json::parse(copy), result);
}

TEST_F(TrainCommandTest, ATargetThatIsNotReachedIsAFailure) {
  const Output output = Train({"--target_accuracy=1", "--num_epochs=1", "--init_learning_rate=0"});
  EXPECT_EQ(output.exit_code, kFailure);
  EXPECT_THAT(output.out, HasSubstr("was not reached in 1 epoch."));
}

TEST_F(TrainCommandTest, TwoRunsWithOneSeedPrintTheSameLosses) {
  const auto losses = [&] {
    std::string text = Train({"--target_accuracy=0", "--num_epochs=2"}).out;
    std::string kept;
    for (size_t at = text.find("loss"); at != std::string::npos; at = text.find("loss", at + 1))
      kept += text.substr(at, 14) + "\n";
    return kept;
  };
  const std::string first = losses();
  EXPECT_NE(first, "");
  EXPECT_EQ(losses(), first);
}

// Raises SIGINT from another thread as soon as the command has its handlers, that is while it loads or trains.
TEST_F(TrainCommandTest, CtrlCWhileLoadingStillWritesTheResult) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    alarm(100);
    std::thread([] {
      struct sigaction action {};
      do {
        sigaction(SIGINT, nullptr, &action);
      } while (action.sa_handler == SIG_DFL);
      kill(getpid(), SIGINT);
    }).detach();
    _exit(Train({"--num_epochs=1000000", "--target_accuracy=0", "--json=" + PathOf("result.json")}).exit_code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  std::ifstream file(PathOf("result.json"));
  EXPECT_EQ(nlohmann::json::parse(file)["result"]["outcome"], "interrupted");
}

TEST_F(TrainCommandTest, BadInputIsRefusedInOneLine) {
  ExpectRefused(Train({"--datset=x"}), "Did you mean: dataset ?");
  ExpectRefused(Train({"word"}), "word");
  ExpectRefused(Train({"--batch_size=0"}), "batch_size");
  ExpectRefused(Train({"--dataset=nowhere"}), "expected fashion-mnist, mnist, idx:DIR, cifar10 or cifar10:DIR");
  ExpectRefused(Train({"--model=cnm"}), "known are alexnet, cnn");
  ExpectRefused(Train({"--batch_size=16000000"}), " fits");
  ExpectRefused(Train({"--json=" + PathOf("no/such/folder/x.json")}), "no/such/folder");
}

TEST_F(TrainCommandTest, OutputsAreRefusedNamingTheirFlagAndLeaveNoFolderBehind) {
  ExpectRefused(Train({"--json="}), "flag --json=: needs the name of a file");
  ExpectRefused(Train({"--train_dir="}), "flag --train_dir=: needs the name of a folder");
  ExpectRefused(Train({"--json=" + PathOf("no/x.json")}), "flag --json: cannot write " + PathOf("no/x.json"));
  ExpectRefused(Train({"--train_dir=/proc/none"}), "flag --train_dir: cannot create folder /proc/none");
  ExpectRefused(Train({"--train_dir=" + PathOf("run"), "--batch_size=16000000"}), " fits");
  EXPECT_FALSE(std::filesystem::exists(PathOf("run")));
}

TEST_F(TrainCommandTest, DamagedFilesAreRefusedNamingFileAndOffset) {
  folder_.Write("t10k-labels-idx1-ubyte", LabelBytes({0, 1}));
  ExpectRefused(Train({}),
                PathOf("t10k-labels-idx1-ubyte") + ": byte 4: the file announces 2 labels, 10 were expected");
  folder_.Write("train-images-idx3-ubyte.gz", ImageBytes(40, 8, 8).substr(0, 1000));
  ExpectRefused(Train({}), PathOf("train-images-idx3-ubyte.gz") + ": byte 1000: the file ends here");
  std::filesystem::remove(folder_.path() / "train-images-idx3-ubyte.gz");
  ExpectRefused(Train({}), "the folder lacks train-images-idx3-ubyte[.gz]");
}

TEST_F(TrainCommandTest, ALossThatIsNotFiniteStopsWithStepAndLayerAndLeavesNoResult) {
  const Output output = Train({"--optimizer=sgd", "--init_learning_rate=1e6", "--json=" + PathOf("result.json")});
  EXPECT_EQ(output.exit_code, kBadInput);
  EXPECT_THAT(output.err, AllOf(HasSubstr("the loss of step "), HasSubstr(" holds ")));
  EXPECT_FALSE(std::filesystem::exists(PathOf("result.json")));
}

// CIFAR-10's binary form: images of four colours with noise, class = colour.
std::string ColouredCifarImages(int count, uint32_t seed) {
  constexpr int kColours[4][3] = {{200, 60, 60}, {60, 200, 60}, {60, 60, 200}, {200, 200, 60}};
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<char>(i % 4));
    for (int c = 0; c < 3; ++c) {
      for (int pixel = 0; pixel < 1024; ++pixel) {
        seed = seed * 1664525 + 1013904223;
        bytes.push_back(static_cast<char>(kColours[i % 4][c] + static_cast<int>(seed >> 24) % 64 - 32));
      }
    }
  }
  return bytes;
}

TEST(TrainCommandOnCifar10, Resnet20LearnsASeparableSetInBinaryFormToOne) {
  const TempFolder folder;
  for (int i = 1; i <= 5; ++i)
    folder.Write("data_batch_" + std::to_string(i) + ".bin", ColouredCifarImages(32, static_cast<uint32_t>(i)));
  folder.Write("test_batch.bin", ColouredCifarImages(32, 77));
  const Output output = RunMuster({"train", "--data_name=cifar10", "--data_dir=" + folder.path().string(),
                                   "--model=resnet20", "--batch_size=16", "--eval_batch_size=32", "--num_epochs=12",
                                   "--target_accuracy=1", "--optimizer=momentum", "--init_learning_rate=0.05",
                                   "--random_flip", "--shift_crop=4", "--num_intra_threads=1"});
  EXPECT_EQ(output.exit_code, kSuccess) << output.out << output.err;
  EXPECT_THAT(output.out, AllOf(HasSubstr("on cifar10:"), HasSubstr("160 images of 32x32x3, 32 to test"),
                                HasSubstr("test accuracy 1.0000")));
}

TEST_F(TrainCommandTest, MissingFilesOfCifar10AreNoted) {
  const TempFolder folder;
  for (const char* name :
       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_5.bin", "test_batch.bin"})
    folder.Write(name, ColouredCifarImages(8, 1));
  const Output output = RunMuster({"train", "--dataset=cifar10:" + folder.path().string(), "--model=trivial",
                                   "--batch_size=8", "--num_epochs=1", "--target_accuracy=0"});
  EXPECT_EQ(output.exit_code, kSuccess) << output.err;
  EXPECT_THAT(output.out, HasSubstr("\n" + (folder.path() / "data_batch_4.bin").string() +
                                    ": the file is missing; the run goes on with those that are there\n"));
}

TEST_F(TrainCommandTest, TheTwoWaysToNameADataSetDoNotMix) {
  ExpectRefused(Train({"--data_name=cifar10"}), "flag --dataset cannot go with --data_name");
  ExpectRefused(RunMuster({"train", "--data_dir=x"}), "flag --data_dir=x: needs --data_name");
  ExpectRefused(RunMuster({"train", "--dataset=cifar10:nowhere"}), "flag --dataset=nowhere: there is no such folder");
}

}  // namespace
}  // namespace muster::cli
