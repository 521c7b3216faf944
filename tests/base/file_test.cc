#include "base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "muster/error.h"

namespace muster {
namespace {

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster_file_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  size_t Count() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) count += entry.exists();
    return count;
  }

  std::string folder_;
};

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(FileTest, WhatWasWrittenIsReadBackAndNoTemporaryIsLeft) {
  const std::string bytes("a\0b\n", 4);
  WriteFileAtomically(Path("x"), bytes);
  EXPECT_EQ(ReadFile(Path("x")), bytes);
  WriteFileAtomically(Path("x"), "new");
  EXPECT_EQ(ReadFile(Path("x")), "new");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, AppendedBytesFollowThoseThere) {
  AppendToFile(Path("log"), "one\n");
  AppendToFile(Path("log"), "two\n");
  EXPECT_EQ(ReadFile(Path("log")), "one\ntwo\n");
}

TEST_F(FileTest, ErrorsNameThePathAndTheSystemsReason) {
  EXPECT_EQ(ErrorOf([&] { ReadFile(Path("none")); }), "cannot open " + Path("none") + ": No such file or directory");
  const std::string deep = Path("no/such/file");
  EXPECT_NE(ErrorOf([&] { WriteFileAtomically(deep, "x"); }).find(deep), std::string::npos);
  EXPECT_EQ(ErrorOf([&] { CheckWritable(deep); }), "cannot write " + deep + ": No such file or directory");
  EXPECT_EQ(ErrorOf([&] { CheckWritable(folder_); }), "cannot write " + folder_ + ": Is a directory");
}

TEST_F(FileTest, AFailedReplacementLeavesNothingBehind) {
  std::filesystem::create_directory(Path("folder"));
  EXPECT_NE(ErrorOf([&] { WriteFileAtomically(Path("folder"), "x"); }), "no error");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, CheckingLeavesNothingBehind) {
  CheckWritable(Path("result.json"));
  EXPECT_EQ(Count(), 0u);
  CreateWritableFolder(Path("a/b"));
  EXPECT_TRUE(std::filesystem::is_empty(Path("a/b")));
}

TEST_F(FileTest, AFileInTheWayOfAFolderIsNamed) {
  WriteFileAtomically(Path("file"), "x");
  EXPECT_NE(ErrorOf([&] { CreateWritableFolder(Path("file")); }).find(Path("file")), std::string::npos);
  EXPECT_NE(ErrorOf([&] { CreateWritableFolder(Path("file/sub")); }).find(Path("file/sub")), std::string::npos);
}

}  // namespace
}  // namespace muster
