// What summaries of a run hold, however often they are written and whatever else looks at the same steps.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "data/format/event_file.h"
#include "tests/contract/run_program.h"
#include "tests/testing/idx_files.h"

namespace muster {
namespace {

using testing::Finished;
using testing::RunProgram;
using testing::TemporaryFolder;

int NumRunMetadata(const std::string& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().find("tfevents") == std::string::npos) continue;
    data::EventFileReader reader(entry.path().string());
    while (const auto event = reader.Next()) count += event->kind == data::Event::Kind::kRunMetadata;
  }
  return count;
}

// A folder with few training images, and `muster train` on them for eight steps.
class SmallTraining {
 public:
  SmallTraining() {
    for (const char* set : {"train", "t10k"}) {
      images_.Write(std::string(set) + "-images-idx3-ubyte", testing::ImageBytes(64, 28, 28));
      std::vector<uint8_t> labels(64);
      for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<uint8_t>(i % 10);
      images_.Write(std::string(set) + "-labels-idx1-ubyte", testing::LabelBytes(labels));
    }
  }
  Finished Run(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"train",          "--dataset=idx:" + images_.path().string(),
                                      "--batch_size=8", "--eval_batch_size=8",
                                      "--num_epochs=1", "--target_accuracy=0",
                                      "--train_dir=t"};
    words.insert(words.end(), more.begin(), more.end());
    return RunProgram(words, folder_.path());
  }
  std::string train_dir() const { return folder_.path() + "/t"; }

 private:
  testing::TempFolder images_;
  TemporaryFolder folder_;
};

TEST(Summaries, OfEachStepHaveRunMetadataAtVerbosityTwo) {
  const SmallTraining training;
  const Finished run = training.Run({"--save_summaries_steps=1", "--summary_verbosity=2"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(NumRunMetadata(training.train_dir()), 8);
}

TEST(Summaries, HaveRunMetadataOnceAtVerbosityOne) {
  const SmallTraining training;
  const Finished run = training.Run({"--save_summaries_steps=1", "--summary_verbosity=1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(NumRunMetadata(training.train_dir()), 1);
}

TEST(Summaries, HaveRunMetadataOfAStepThatIsProfiledToo) {
  TemporaryFolder folder;
  const Finished run = RunProgram({"bench", "--device=cpu", "--model=trivial", "--data_name=cifar10", "--batch_size=2",
                                   "--num_batches=8", "--num_warmup_batches=0", "--train_dir=t", "--tfprof_file=p",
                                   "--save_summaries_steps=4", "--summary_verbosity=1"},
                                  folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(NumRunMetadata(folder.path() + "/t"), 1);
}

TEST(TextLog, HasNoStepsWhereNoneAreAskedFor) {
  const SmallTraining training;
  const Finished run = training.Run({"--display_every=0"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string log = ReadFile(training.train_dir() + "/log.jsonl");
  EXPECT_EQ(log.find("\"step\","), std::string::npos) << log.substr(0, 500);
  EXPECT_NE(log.find("\"evaluation\""), std::string::npos);
}

}  // namespace
}  // namespace muster
