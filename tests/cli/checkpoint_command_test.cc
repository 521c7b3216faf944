#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/dispatch.h"
#include "data/format/bundle_messages.h"
#include "data/format/bundle_writer.h"
#include "data/format/coding.h"
#include "data/format/table.h"
#include "data/format/table_layout.h"
#include "tests/testing/golden.h"
#include "tests/testing/idx_files.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

struct Output {
  int exit_code;
  std::string out, err;
};

Output Checkpoint(std::vector<std::string> words) {
  words.insert(words.begin(), "checkpoint");
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int exit_code = Dispatch(words);
  return {exit_code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

std::string Golden(const std::string& name) { return (testing::GoldenDir() / "ckpt" / name).string(); }

class CheckpointCommandTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::vector<float>& values) const {
    const std::string prefix = (folder_.path() / name).string();
    data::BundleWriter writer(prefix);
    writer.Add("w", Tensor::Of<float>({static_cast<int64_t>(values.size())}, values));
    writer.Add("step", Tensor::Scalar<int64_t>(3));
    writer.Finish();
    return prefix;
  }
  testing::TempFolder folder_;
};

TEST_F(CheckpointCommandTest, ListsTheTensorsOfACheckpointThatTensorFlowWrote) {
  const Output output = Checkpoint({"list", Golden("partitioned/model.ckpt-7.index")});
  EXPECT_EQ(output.exit_code, kSuccess);
  EXPECT_THAT(output.out, HasSubstr("4 tensors, 1 data file\n"));
  EXPECT_THAT(output.out, ::testing::ContainsRegex("part/weights +float32 +\\[11,6\\] +264  in 3 slices\n"));
}

TEST_F(CheckpointCommandTest, ListsAsJsonTheNewestOfAFolder) {
  const Output output = Checkpoint({"list", Golden("several"), "--json"});
  const auto result = nlohmann::json::parse(output.out);
  EXPECT_EQ(result["checkpoint"], Golden("several/model.ckpt-50"));
  EXPECT_EQ(result["tensors"].size(), 2u);
}

// Their sum is more than a number of 64 bits can say.
TEST_F(CheckpointCommandTest, SizesThatCannotBeAreRefused) {
  data::TableBuilder table;
  table.Add("", data::BundleHeaderBytes(1));
  constexpr int64_t kLarge = int64_t{1} << 58;
  for (int i = 0; i < 5; ++i)
    table.Add(fmt::format("t{}", i),
              data::BundleEntryBytes({.data_type = 18, .shape = {kLarge}, .offset = i, .size = 1}));  // complex128
  const std::string prefix = (folder_.path() / "m-1").string();
  folder_.Write("m-1.index", table.Finish());
  const Output output = Checkpoint({"list", prefix});
  EXPECT_NE(output.exit_code, kSuccess);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("m-1.index: up to tensor t"));
  EXPECT_THAT(output.err, HasSubstr("which cannot be"));
}

TEST_F(CheckpointCommandTest, VerifiesAllOfAFolderAndNamesWhatIsBroken) {
  EXPECT_EQ(Checkpoint({"verify", Golden("several")}).exit_code, kSuccess);
  const std::string good = Write("m-1", {1, 2}), bad = Write("m-2", {1, 2});
  std::string bytes = ReadFile(bad + ".data-00000-of-00001");
  bytes[3] = 'x';
  std::ofstream(bad + ".data-00000-of-00001", std::ios::binary) << bytes;
  const Output output = Checkpoint({"verify", folder_.path().string()});
  EXPECT_EQ(output.exit_code, kFailure);
  EXPECT_THAT(output.out, HasSubstr("intact  " + good + "\n"));
  EXPECT_THAT(
      output.out,
      HasSubstr("BROKEN  " + bad + ".data-00000-of-00001: tensor w at byte 0: the checksum of its 8 bytes is wrong\n"));
}

// A damaged file's tensor name, or a file's own name, must not command the terminal. JSON escapes, and keeps the names.
TEST_F(CheckpointCommandTest, NamesWithControlCharactersStayOnOneLine) {
  const std::string prefix = (folder_.path() / "m\n\x1b[2J-1").string(),
                    shown = (folder_.path() / "m\\n\\x1b[2J-1").string();
  data::BundleWriter writer(prefix);
  writer.Add("w\nx\x1b", Tensor::Scalar<int64_t>(3));
  writer.Finish();
  const std::string listed = Checkpoint({"list", prefix}).out, other = Write("other", {1});
  EXPECT_THAT(listed, ::testing::StartsWith(shown + ": 1 tensors, 1 data file\nw\\nx\\x1b  int64 "));
  EXPECT_EQ(std::count(listed.begin(), listed.end(), '\n'), 3);
  EXPECT_EQ(Checkpoint({"verify", prefix}).out, "intact  " + shown + "\n");
  const std::string compared = Checkpoint({"compare", prefix, other}).out;
  EXPECT_THAT(compared, HasSubstr("A: " + shown + "\nB: " + other + "\n"));
  EXPECT_THAT(compared, HasSubstr("\nw\\nx\\x1b: only in A\n"));
  const auto json = nlohmann::json::parse(Checkpoint({"list", prefix, "--json"}).out);
  EXPECT_EQ(json["checkpoint"], prefix);
  EXPECT_EQ(json["tensors"][0]["name"], "w\nx\x1b");
  EXPECT_EQ(nlohmann::json::parse(Checkpoint({"verify", prefix, "--json"}).out)[0]["checkpoint"], prefix);
}

// Which nothing needs for reading: 48 bytes of footer end the file, in front of them is the index block.
TEST_F(CheckpointCommandTest, VerifiesTheMetaBlockOfTheIndex) {
  const std::string prefix = Write("m-1", {1, 2});
  std::string bytes = ReadFile(prefix + ".index");
  std::string_view footer = std::string_view(bytes).substr(bytes.size() - data::kFooterBytes);
  uint64_t offset = 0;
  ASSERT_TRUE(data::TakeVarint(&footer, &offset));
  bytes[offset] = static_cast<char>(bytes[offset] ^ 1);
  std::ofstream(prefix + ".index", std::ios::binary) << bytes;
  const Output output = Checkpoint({"verify", prefix});
  EXPECT_EQ(output.exit_code, kFailure);
  EXPECT_THAT(output.out,
              HasSubstr(fmt::format("BROKEN  {}.index: at byte {}: the meta block of 8 bytes", prefix, offset)));
  EXPECT_EQ(Checkpoint({"compare", prefix, prefix}).exit_code, kSuccess);
}

TEST_F(CheckpointCommandTest, ComparesValuesWithinATolerance) {
  const std::string a = Write("a", {1, 2, 3}), b = Write("b", {1, 2.5, 3});
  const Output same = Checkpoint({"compare", a, a});
  EXPECT_EQ(same.exit_code, kSuccess);
  EXPECT_THAT(same.out, HasSubstr("2 tensors in both; no differences\n"));
  const Output other = Checkpoint({"compare", a, b});
  EXPECT_EQ(other.exit_code, kFailure);
  EXPECT_THAT(other.out, HasSubstr("w: 1 of 3 elements differ, by 0.5 at most\n"));
  EXPECT_EQ(Checkpoint({"compare", a, b, "--tolerance=0.5"}).exit_code, kSuccess);
  EXPECT_THAT(Checkpoint({"compare", a, Write("c", {1, 2})}).out, HasSubstr("w: float32[3] and float32[2]\n"));
}

// Dark images are class 0, bright ones class 1; files and flags of "muster train".
TEST_F(CheckpointCommandTest, TrainGoesOnFromTheNewestCheckpointOfItsFolder) {
  for (const auto& [part, count] : {std::pair{"train", 40u}, std::pair{"t10k", 8u}}) {
    std::string pixels;
    std::vector<uint8_t> labels;
    for (uint32_t i = 0; i < count; ++i) {
      labels.push_back(i % 2);
      pixels.append(64, static_cast<char>(i % 2 == 0 ? 10 + i : 200 + i));
    }
    folder_.Write(std::string(part) + "-images-idx3-ubyte", testing::IdxBytes(0x08, {count, 8, 8}, pixels));
    folder_.Write(std::string(part) + "-labels-idx1-ubyte", testing::LabelBytes(labels));
  }
  const std::string folder = folder_.path().string();
  const auto train = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"train", "--dataset=idx:" + folder, "--batch_size=8", "--eval_batch_size=8",
                                 "--num_intra_threads=1", "--target_accuracy=0", "--learning_rate_schedule=constant"});
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int exit_code = Dispatch(words);
    return Output{exit_code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
  };
  EXPECT_EQ(train({"--num_epochs=2", "--checkpoint_dir=" + folder + "/whole"}).exit_code, kSuccess);
  EXPECT_EQ(train({"--num_epochs=1", "--checkpoint_dir=" + folder + "/parts"}).exit_code, kSuccess);
  const Output second = train({"--num_epochs=2", "--checkpoint_dir=" + folder + "/parts"});
  EXPECT_THAT(second.out, HasSubstr("Going on from " + folder + "/parts/model.ckpt-5 (5 steps done)\n"));
  EXPECT_EQ(Checkpoint({"compare", folder + "/whole/model.ckpt-10", folder + "/parts/model.ckpt-10"}).exit_code,
            kSuccess);
  std::filesystem::remove(folder + "/parts/checkpoint");
  EXPECT_THAT(train({"--num_epochs=1", "--checkpoint_dir=" + folder + "/parts"}).err,
              HasSubstr("parts/checkpoint: no such file, but the folder has checkpoints, which a run from the start "
                        "would replace; the newest intact checkpoint is " +
                        folder + "/parts/model.ckpt-10: --restore_from=" + folder + "/parts/model.ckpt-10\n"));
  EXPECT_THAT(train({"--restore_from=" + folder + "/nothing"}).err, HasSubstr("nothing.index: No such file"));
  EXPECT_THAT(train({"--save_model_steps=5"}).err,
              HasSubstr("--save_model_steps has no effect without --checkpoint_dir"));
}

TEST_F(CheckpointCommandTest, BadInputIsOneLine) {
  EXPECT_EQ(Checkpoint({}).exit_code, kBadInput);
  EXPECT_THAT(Checkpoint({"list"}).err, HasSubstr("expected list PATH, verify PATH or compare A B"));
  EXPECT_THAT(Checkpoint({"list", "/nowhere"}).err,
              HasSubstr("/nowhere: no such folder or checkpoint (no file /nowhere.index)"));
  EXPECT_THAT(Checkpoint({"verify", folder_.path().string()}).err,
              HasSubstr("holds no checkpoint (no file NAME.index)"));
  EXPECT_THAT(Checkpoint({"list", "x", "--tolerance=1"}).err, HasSubstr("--tolerance has no meaning"));
}

}  // namespace
}  // namespace muster::cli
