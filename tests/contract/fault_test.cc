// What a run with --train_dir says when files are damaged, the disk is full or a folder is read-only: one line that
// names the place and what is still good, and nothing that was good is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/file.h"
#include "tests/contract/run_program.h"

namespace muster {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;

class Fault : public ::testing::Test {
 protected:
  Finished Bench(int num_batches, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"bench",
                                      "--device=cpu",
                                      "--data_format=NHWC",
                                      "--model=lenet",
                                      "--batch_size=2",
                                      "--num_warmup_batches=0",
                                      "--optimizer=momentum",
                                      "--save_model_steps=5",
                                      "--train_dir=t",
                                      "--num_batches=" + std::to_string(num_batches)};
    words.insert(words.end(), more.begin(), more.end());
    return testing::RunProgram(words, folder_.path());
  }
  fs::path Folder() const { return fs::path(folder_.path()) / "t"; }
  fs::path Path(const std::string& file) const { return Folder() / file; }
  void Flip(const std::string& file, size_t at) const {
    std::string bytes = ReadFile(Path(file).string());
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 0x10);
    std::ofstream(Path(file), std::ios::binary) << bytes;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(Folder()))
      if (!entry.path().filename().string().starts_with("events.")) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  testing::TemporaryFolder folder_;
};

constexpr char kData[] = "model.ckpt-10.data-00000-of-00001", kIndex[] = "model.ckpt-10.index";

// The last line of standard error, which is the error.
std::string ErrorOf(const Finished& run) {
  const std::vector<std::string> lines = testing::Lines(run.err);
  return lines.empty() ? "" : lines.back();
}

TEST_F(Fault, ADamagedCheckpointIsNamedAndTheOneBeforeOffered) {
  struct Damage {
    std::function<void()> make;
    const char* says;
  };
  const Damage damages[] = {
      {[&] { Flip(kData, 100000); }, "model.ckpt-10.data-00000-of-00001: tensor v/cg/"},
      {[&] { fs::resize_file(Path(kData), 5000); },
       "bytes reach beyond the end of the file at byte 5000: it was cut off"},
      {[&] { fs::remove(Path(kData)); }, "model.ckpt-10.data-00000-of-00001: no such file; tensor "},
      {[&] {
         fs::remove(Path(kData));
         fs::create_directory(Path(kData));
       },
       "model.ckpt-10.data-00000-of-00001: is not a regular file"},
      {[&] { Flip(kIndex, 50); }, "model.ckpt-10.index: at byte 0: the block of"},
      {[&] { fs::resize_file(Path(kIndex), 300); },
       "model.ckpt-10.index: at byte 292: the number that ends every index is not there"},
      {[&] { std::ofstream(Path(kIndex), std::ios::trunc).flush(); }, "model.ckpt-10.index: has 0 bytes"},
  };
  ASSERT_EQ(Bench(10).exit_code, 0);
  const fs::path good = fs::path(folder_.path()) / "good";
  fs::copy(Folder(), good, fs::copy_options::recursive);
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.says);
    damage.make();
    const Finished run = Bench(20);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(
        ErrorOf(run),
        AllOf(
            HasSubstr(damage.says),
            HasSubstr("; the newest intact checkpoint is t/model.ckpt-5: remove t/model.ckpt-10.* to go on from it")));
    // As it says.
    for (const std::string& name : Names())
      if (name.starts_with("model.ckpt-10.")) fs::remove(Path(name));
    const Finished next = Bench(12);
    EXPECT_EQ(next.exit_code, 0) << next.err;
    EXPECT_TRUE(fs::exists(Path("model.ckpt-12.index")));
    fs::remove_all(Folder());
    fs::copy(good, Folder(), fs::copy_options::recursive);
  }
}

TEST_F(Fault, ADamagedListOfCheckpointsIsNamedWithItsLine) {
  ASSERT_EQ(Bench(10).exit_code, 0);
  std::ofstream(Path("checkpoint")) << "model_checkpoint_path: \"model.ckpt-10\"\nall_model_check";
  const Finished run = Bench(20);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(ErrorOf(run),
              AllOf(HasSubstr("t/checkpoint: line 2"),
                    HasSubstr("the newest intact checkpoint is t/model.ckpt-10: write 'model_checkpoint_path: "
                              "\"model.ckpt-10\"' into t/checkpoint to go on from it")));
  std::ofstream(Path("checkpoint")) << "model_checkpoint_path: \"model.ckpt-10\"";
  EXPECT_EQ(Bench(12).exit_code, 0);
}

TEST_F(Fault, ALostListOfCheckpointsIsNamedAndNothingIsReplaced) {
  ASSERT_EQ(Bench(10).exit_code, 0);
  fs::remove(Path("checkpoint"));
  const std::vector<std::string> before = Names();
  const std::string bytes = ReadFile(Path(kData).string());
  const Finished run = Bench(5, {"--tf_random_seed=9"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(ErrorOf(run),
            "muster bench: flag --train_dir: t/checkpoint: no such file, but the folder has checkpoints, which a run "
            "from the start would replace; the newest intact "
            "checkpoint is t/model.ckpt-10: write 'model_checkpoint_path: \"model.ckpt-10\"' into t/checkpoint to go "
            "on from it");
  EXPECT_EQ(Names(), before);
  EXPECT_TRUE(ReadFile(Path(kData).string()) == bytes);
  const Finished evaluation = Bench(1, {"--eval", "--eval_dir=e"});
  EXPECT_EQ(evaluation.exit_code, 0);
  EXPECT_THAT(evaluation.out, HasSubstr("Checkpoint not found in t\n"));
  EXPECT_THAT(evaluation.err, HasSubstr("t/checkpoint: no such file, but the folder has checkpoints; the newest intact "
                                        "checkpoint is t/model.ckpt-10: --train_dir=t/model.ckpt-10\n"));
  const Finished forward = Bench(1, {"--forward_only"});
  EXPECT_EQ(forward.exit_code, 0);
  EXPECT_THAT(forward.err,
              AllOf(HasSubstr("--train_dir (there is no listed checkpoint in it: weights are first values)"),
                    HasSubstr("t/checkpoint: no such file, but the folder has checkpoints; the newest intact "
                              "checkpoint is t/model.ckpt-10: write "
                              "'model_checkpoint_path: \"model.ckpt-10\"' into t/checkpoint to go on from it\n")));
  EXPECT_EQ(Names(), before);
  std::ofstream(Path("checkpoint")) << "model_checkpoint_path: \"model.ckpt-10\"";
  EXPECT_EQ(Bench(12).exit_code, 0);
}

TEST_F(Fault, ACheckpointThatMayNotBeReadIsNotToBeRemoved) {
  ASSERT_EQ(Bench(10).exit_code, 0);
  for (const char* file : {kData, kIndex, "checkpoint"}) {
    SCOPED_TRACE(file);
    const fs::perms before = fs::status(Path(file)).permissions();
    fs::permissions(Path(file), fs::perms::none);
    const Finished run = Bench(20);
    fs::permissions(Path(file), before);
    EXPECT_EQ(run.exit_code, 2);
    const std::string readable = file == std::string("checkpoint") ? "t/model.ckpt-10" : "t/model.ckpt-5";
    EXPECT_EQ(ErrorOf(run), "muster bench: flag --train_dir: cannot open t/" + std::string(file) +
                                ": Permission denied; the newest checkpoint that can be read is " + readable);
  }
  EXPECT_EQ(Bench(12).exit_code, 0);
}

TEST_F(Fault, AllDamagedCheckpointsInFrontOfTheIntactOneAreToBeRemoved) {
  ASSERT_EQ(Bench(15).exit_code, 0);
  Flip(kData, 100000);
  Flip("model.ckpt-15.data-00000-of-00001", 100000);
  EXPECT_THAT(ErrorOf(Bench(20)), HasSubstr("; the newest intact checkpoint is t/model.ckpt-5: remove "
                                            "t/model.ckpt-15.* and t/model.ckpt-10.* to go on from it"));
  for (const std::string& name : Names())
    if (name.starts_with("model.ckpt-1")) fs::remove(Path(name));
  const Finished next = Bench(7);
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_TRUE(fs::exists(Path("model.ckpt-7.index")));
}

// As far as a test can have a full disk: a limit on the size of files, below that of a checkpoint's data.
TEST_F(Fault, AFullDiskIsOneLineAndTheCheckpointsBeforeStay) {
  ASSERT_EQ(Bench(10).exit_code, 0);
  const std::vector<std::string> before = Names();
  struct rlimit limit {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  struct rlimit small = limit;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Finished run = Bench(20);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(ErrorOf(run),
            "muster bench: cannot write t/model.ckpt-15.data-00000-of-00001: File too large; the newest checkpoint is "
            "t/model.ckpt-10");
  EXPECT_EQ(Names(), before);
  EXPECT_EQ(testing::RunProgram({"checkpoint", "verify", "t"}, folder_.path()).exit_code, 0);
  EXPECT_EQ(Bench(12).exit_code, 0);
}

TEST_F(Fault, AReadOnlyFolderIsRefusedBeforeAnythingIsDone) {
  ASSERT_EQ(Bench(10).exit_code, 0);
  fs::permissions(Folder(), fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write,
                  fs::perm_options::remove);
  const Finished run = Bench(20);
  const Finished reading = Bench(2, {"--forward_only"});
  fs::permissions(Folder(), fs::perms::owner_write, fs::perm_options::add);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("train_dir"), HasSubstr("t: Permission denied")));
  EXPECT_THAT(run.out, Not(HasSubstr("Step")));
  EXPECT_EQ(reading.exit_code, 0) << reading.err;
}

}  // namespace
}  // namespace muster
