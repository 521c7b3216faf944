#include "data/imagenet/verify_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>

#include "data/format/png.h"
#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::testing::EndsWith;
namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

// The golden records have 861 to 2,836 bytes.
constexpr int64_t kLargestRecord = 2836;

SystemMemory Free(int64_t bytes) { return {.total = int64_t{1} << 40, .available = bytes}; }

class VerifyPacked : public ::testing::Test {
 protected:
  VerifyPacked() : records_(ReadFile(GoldenPath("tfrecord/train-00000-of-00001"))) {}
  VerifiedImages Verify(const SystemMemory& memory) {
    return VerifyImages(folder_.path(), Subset::kTrain, 1001, "--data_dir", 4, memory);
  }

  testing::TempFolder folder_;
  std::string records_;
};

TEST_F(VerifyPacked, LackOfMemoryIsNoDamage) {
  folder_.Write("train-00000-of-00002", testing::Gzip(records_));
  folder_.Write("train-00001-of-00002", records_);
  const VerifiedImages found = Verify(Free(0));
  EXPECT_EQ(found.broken, Lines());
  ASSERT_EQ(found.unread.size(), 1u);
  EXPECT_THAT(found.unread[0], EndsWith("train-00000-of-00002: record 0 at byte 0: the record of 1724 bytes does not "
                                        "fit into the memory that is left; "
                                        "unpack the files on disk (gunzip) first"));
  EXPECT_EQ(found.whole, 12);  // those of the file that is not packed
}

// The largest record fits alone: the threads wait for each other.
TEST_F(VerifyPacked, AllThreadsShareOneBudget) {
  constexpr int kFiles = 6;
  for (int i = 0; i < kFiles; ++i)
    folder_.Write("train-0000" + std::to_string(i) + "-of-00006", testing::Gzip(records_));
  const VerifiedImages found = Verify(Free(2 * kLargestRecord));
  EXPECT_EQ(found.whole, 12 * kFiles);
  EXPECT_EQ(found.broken, Lines());
  EXPECT_EQ(found.unread, Lines());
  EXPECT_EQ(Verify(Free(2 * (kLargestRecord - 1))).unread.size(), size_t{kFiles});
}

// What a broken record had of the budget is there for the next one.
TEST_F(VerifyPacked, DamageGivesItsMemoryBack) {
  records_[100] = static_cast<char>(records_[100] ^ 1);
  folder_.Write("train-00000-of-00001", testing::Gzip(records_));
  const VerifiedImages found = Verify(Free(2 * kLargestRecord));
  EXPECT_EQ(found.whole, 11);
  EXPECT_EQ(found.broken.size(), 1u);
  EXPECT_EQ(found.unread, Lines());
}

class VerifyFolders : public ::testing::Test {
 protected:
  VerifyFolders() {
    for (const char* sub : {"train/n01", "train/n02", "validation/n01"}) fs::create_directories(folder_.path() / sub);
    for (const char* name : {"train/n01/i1.png", "train/n02/i0.png", "validation/n01/i1.png"})
      folder_.Write(name, png_);
  }
  VerifiedImages Verify(Subset subset) { return VerifyImages(folder_.path(), subset, 1001, "--data_dir", 2); }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

  const std::string png_ = EncodePng(std::vector<uint8_t>(2 * 2 * 3, 7), 2, 2, 3);
  testing::TempFolder folder_;
};

TEST_F(VerifyFolders, AFolderWithoutAClassHidesNoBrokenImage) {
  fs::create_directories(folder_.path() / "validation/other");
  folder_.Write("validation/n01/i0.jpg", "");
  const VerifiedImages found = Verify(Subset::kValidation);
  EXPECT_EQ(found.whole, 1);
  EXPECT_EQ(found.broken, (Lines{Path("validation/other") + ": " + Path("train") + " has no class of that name",
                                 Path("validation/n01/i0.jpg") + ": the image has no bytes"}));
}

// A link to itself cannot be read by anyone, root included.
TEST_F(VerifyFolders, AFolderThatCannotBeReadHidesNoBrokenImage) {
  fs::create_symlink("n00", folder_.path() / "train/n00");
  fs::create_symlink("nothing", folder_.path() / "train/n03");
  folder_.Write("train/n01/i0.jpg", "");
  const VerifiedImages found = Verify(Subset::kTrain);
  EXPECT_EQ(found.whole, 2);
  EXPECT_EQ(found.broken, (Lines{"cannot read " + Path("train/n00") + ": Too many levels of symbolic links",
                                 Path("train/n03") + ": the link leads to nothing",
                                 Path("train/n01/i0.jpg") + ": the image has no bytes"}));
}

TEST_F(VerifyFolders, MoreClassesThanExpectedHideNoBrokenImage) {
  folder_.Write("train/n02/i1.jpg", "");
  const VerifiedImages found = VerifyImages(folder_.path(), Subset::kTrain, 2, "--data_dir", 1);
  EXPECT_EQ(found.broken, (Lines{Path("train") + ": 2 sub-folders; at most 1 (one per class) were expected",
                                 Path("train/n02/i1.jpg") + ": the image has no bytes"}));
}

TEST_F(VerifyFolders, WhatHasTheNameOfAnImageAndIsNoFileIsBroken) {
  fs::create_symlink("nothing", folder_.path() / "train/n01/dang.jpg");
  fs::create_directory(folder_.path() / "train/n01/dir.jpg");
  ASSERT_EQ(::mkfifo(Path("train/n02/f.jpg").c_str(), 0600), 0);
  fs::create_symlink("i1.png", folder_.path() / "train/n01/link.png");
  const VerifiedImages found = Verify(Subset::kTrain);
  EXPECT_EQ(found.whole, 3);
  EXPECT_EQ(found.broken, (Lines{Path("train/n01/dang.jpg") + ": the link leads to nothing",
                                 Path("train/n01/dir.jpg") + ": is not a regular file",
                                 Path("train/n02/f.jpg") + ": is not a regular file"}));
}

}  // namespace
}  // namespace muster::data
