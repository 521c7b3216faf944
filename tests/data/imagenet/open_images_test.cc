#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include "base/file.h"
#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/record_writer.h"
#include "data/imagenet/example.h"
#include "data/imagenet/open_images.h"
#include "data/imagenet/record_images.h"
#include "tests/data/error_of.h"
#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr char kShard[] = "train-00000-of-00002", kShard2[] = "train-00001-of-00002";

std::unique_ptr<ImageSource> Open(const fs::path& folder, Subset subset = Subset::kTrain) {
  return OpenImages(folder, subset, 1001, "--data_dir");
}

std::string OpenError(const fs::path& folder, Subset subset = Subset::kTrain) {
  return ErrorOf([&] { Open(folder, subset); });
}

std::string GoldenRecordFile() { return ReadFile(GoldenPath("tfrecord/train-00000-of-00001")); }

TEST(RecordImages, GoOnFromFileToFileInTheOrderOfNames) {
  const testing::TempFolder folder;
  folder.Write(kShard2, GoldenRecordFile());
  folder.Write(kShard, GoldenRecordFile());
  folder.Write("validation-00000-of-00001", GoldenRecordFile());
  const auto images = Open(folder.path());
  ASSERT_EQ(images->size(), 24);
  for (int64_t i = 0; i < 12; ++i) {
    const EncodedImage first = images->Get(i), second = images->Get(12 + i);
    EXPECT_EQ(first.bytes, second.bytes);
    EXPECT_EQ(first.label, second.label);
  }
  EXPECT_THAT(images->Where(12 + 3), EndsWith("train-00001-of-00002: record 3 at byte 5296"));
  EXPECT_EQ(Open(folder.path(), Subset::kValidation)->size(), 12);
}

TEST(RecordImages, ArePackedOrNot) {
  const testing::TempFolder folder, packed;
  folder.Write(kShard, GoldenRecordFile());
  for (const char* suffix : {".gz", ".zlib"}) {
    packed.Write(kShard, ReadFile(GoldenPath(std::string("tfrecord/train-00000-of-00001") + suffix)));
    const auto images = Open(folder.path()), same = Open(packed.path());
    ASSERT_EQ(same->size(), images->size());
    for (int64_t i = 0; i < images->size(); ++i) EXPECT_EQ(same->Get(i).bytes, images->Get(i).bytes) << i;
  }
}

TEST(RecordImages, ATruncatedFileSaysWhichRecord) {
  const testing::TempFolder folder;
  folder.Write(kShard, GoldenRecordFile().substr(0, 6000));
  EXPECT_THAT(OpenError(folder.path()),
              EndsWith("train-00000-of-00002: record 3 at byte 5296: the file ends 692 bytes into the record of 1569"));
  folder.Write(kShard, GoldenRecordFile().substr(0, 5300));
  EXPECT_THAT(OpenError(folder.path()), HasSubstr("record 3 at byte 5296: the file ends inside the record's header"));
  folder.Write(kShard, "");
  EXPECT_THAT(OpenError(folder.path()), EndsWith("train-00000-of-00002: the file holds no record"));
}

// Its length is asked before anything of it is unpacked.
TEST(RecordImages, APackedRecordBeyondAllMemoryIsRefusedByItsLength) {
  const testing::TempFolder folder;
  std::string header;
  AppendFixed64(&header, uint64_t{1} << 60);
  AppendFixed32(&header, MaskCrc(Crc32c(header)));
  folder.Write(kShard, testing::Gzip(GoldenRecordFile() + header + "abc"));
  EXPECT_THAT(OpenError(folder.path()), HasSubstr("train-00000-of-00002: record 12 at byte "));
  EXPECT_THAT(OpenError(folder.path()), EndsWith("the record of 1152921504606846976 bytes does not fit into the memory "
                                                 "that is left; unpack the files on disk (gunzip) first"));
}

SystemMemory Free(int64_t bytes) { return {.total = int64_t{1} << 40, .available = bytes}; }

// Each of them would: its records have 19,562 bytes, and half of what is free counts.
TEST(RecordImages, PackedFilesThatDoNotFitTogetherAreRefused) {
  const testing::TempFolder folder;
  const std::string packed = testing::Gzip(GoldenRecordFile());
  const std::vector<fs::path> files = {folder.Write(kShard, packed), folder.Write(kShard2, packed)};
  EXPECT_EQ(OpenRecordImages({files[0]}, 1001, Free(2 * 30000))->size(), 12);
  EXPECT_THAT(ErrorOf([&] { OpenRecordImages(files, 1001, Free(2 * 30000)); }),
              EndsWith(" bytes does not fit into the memory that is left; unpack the files on disk (gunzip) first"));
  EXPECT_EQ(OpenRecordImages(files, 1001, Free(2 * 50000))->size(), 24);
}

// Where they lie must be remembered.
TEST(RecordImages, RecordsWithoutAByteTakeMemoryToo) {
  const testing::TempFolder folder;
  const std::string path = (folder.path() / kShard).string();
  RecordWriter writer(path, Packing::kGzip);
  for (int i = 0; i < 1000; ++i) writer.Append("");
  writer.Close();
  EXPECT_THAT(ErrorOf([&] { OpenRecordImages({path}, 1001, Free(1000)); }),
              HasSubstr("the record of 0 bytes does not fit"));
}

TEST(RecordImages, WithNothingFreeNoPackedFileIsOpenedAndWithUnknownMemoryEveryOneIs) {
  const testing::TempFolder folder;
  const auto file = folder.Write(kShard, testing::Gzip(GoldenRecordFile()));
  EXPECT_THAT(ErrorOf([&] { OpenRecordImages({file}, 1001, Free(0)); }),
              HasSubstr("record 0 at byte 0: the record of 1724 bytes does not fit"));
  EXPECT_EQ(OpenRecordImages({file}, 1001, SystemMemory{})->size(), 12);
}

TEST(RecordImages, AFlippedBitSaysWhichRecord) {
  const testing::TempFolder folder;
  std::string bytes = GoldenRecordFile();
  bytes[5296 + 300] ^= 4;
  folder.Write(kShard, bytes);
  const auto images = Open(folder.path());
  images->Get(2);
  EXPECT_THAT(ErrorOf([&] { images->Get(3); }), HasSubstr("record 3 at byte 5296: the checksum of its"));
  images->Get(4);
  bytes[5296 + 2] ^= 4;
  folder.Write(kShard, bytes);
  EXPECT_THAT(OpenError(folder.path()),
              HasSubstr("record 3 at byte 5296: the checksum of the record's length is wrong"));
}

TEST(RecordImages, ALabelBeyondTheClassesAndAStrangeRecordAreRefused) {
  const testing::TempFolder folder;
  RecordWriter writer((folder.path() / kShard).string());
  writer.Append(MakeImageExample({.bytes = "x", .label = 1001}));
  writer.Append("no example");
  writer.Append(MakeImageExample({.bytes = "x", .label = 1000, .boxes = {{0, 0, 1, 1}}}));
  writer.Close();
  const auto images = Open(folder.path());
  EXPECT_THAT(ErrorOf([&] { images->Get(0); }),
              HasSubstr("record 0 at byte 0: feature image/class/label is 1001; 0 to 1000 was expected"));
  EXPECT_THAT(ErrorOf([&] { images->Get(1); }), HasSubstr("the record is no tf.train.Example"));
  EXPECT_EQ(images->Get(2).boxes, (std::vector<Box>{{0, 0, 1, 1}}));
}

TEST(RecordImages, MissingFilesAreSeenByTheNamesOfTheOthers) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(MissingShards({}), Lines());
  EXPECT_EQ(MissingShards({"d/train-00000-of-00002", "d/train-00001-of-00002"}), Lines());
  EXPECT_EQ(MissingShards({"d/train-0-of-3.gz", "d/train-2-of-3.gz"}),
            (Lines{"d/train-1-of-3.gz: the file is missing"}));
  EXPECT_EQ(MissingShards({"d/train-00000-of-00001", "d/train-00003-of-00004"}),
            (Lines{"d/train-00000-of-00004: this file and 2 others of the 4 are missing"}));
  EXPECT_EQ(MissingShards({"d/train-00002-of-00003"}),
            (Lines{"d/train-00000-of-00003: this file and 1 other of the 3 are missing"}));
  // Names from which nothing follows.
  EXPECT_EQ(MissingShards({"d/train-x-of-3", "d/train--of-3", "d/train-of-3", "d/train-7-of-3", "d/train-0-of-",
                           "d/train-99999999999999999999-of-5"}),
            Lines());
}

TEST(FolderImages, ClassesAreNumberedFromOneByNameInTheTrainingFolder) {
  const testing::TempFolder folder;
  for (const char* sub : {"train/n02", "train/n01", "train/n03", "val/n03"})
    fs::create_directories(folder.path() / sub);
  folder.Write("train/n01/b.JPEG", "b");
  folder.Write("train/n01/a.jpg", "a");
  folder.Write("train/n02/c.png", "c");
  folder.Write("train/n02/readme.txt", "not an image");
  folder.Write("val/n03/d.jpeg", "d");
  const auto train = Open(folder.path()), validation = Open(folder.path(), Subset::kValidation);
  ASSERT_EQ(train->size(), 3);
  EXPECT_EQ(train->Get(0).bytes, "a");
  EXPECT_EQ(train->Get(0).label, 1);
  EXPECT_EQ(train->Get(2).label, 2);
  ASSERT_EQ(validation->size(), 1);
  EXPECT_EQ(validation->Get(0).label, 3);
  EXPECT_THAT(validation->Where(0), EndsWith("val/n03/d.jpeg"));
}

TEST(FolderImages, AClassThatTrainingLacksIsRefused) {
  const testing::TempFolder folder;
  for (const char* sub : {"train/n01", "val/n02"}) fs::create_directories(folder.path() / sub);
  folder.Write("val/n02/d.jpeg", "d");
  EXPECT_THAT(OpenError(folder.path(), Subset::kValidation), EndsWith("train has no class of that name"));
  EXPECT_THAT(OpenError(folder.path()), EndsWith("train: no .jpg, .jpeg or .png file in its sub-folders"));
}

TEST(FolderImages, FoldersAndPipesNamedLikeAnImageAreNone) {
  const testing::TempFolder folder;
  fs::create_directories(folder.path() / "train/n01/dir.jpg");
  ASSERT_EQ(::mkfifo((folder.path() / "train/n01/f.jpg").c_str(), 0600), 0);
  folder.Write("train/n01/a.jpg", "a");
  EXPECT_EQ(Open(folder.path())->size(), 1);
}

// A run must not train on fewer images, or other labels, without a word.
TEST(FolderImages, LinksToNothingAreRefused) {
  const testing::TempFolder folder;
  fs::create_directories(folder.path() / "train/n01");
  folder.Write("train/n01/a.jpg", "a");
  fs::create_symlink("nothing", folder.path() / "train/n01/dang.jpg");
  EXPECT_THAT(OpenError(folder.path()), EndsWith("train/n01/dang.jpg: the link leads to nothing"));
  fs::remove(folder.path() / "train/n01/dang.jpg");
  fs::create_symlink("nothing", folder.path() / "train/n02");
  EXPECT_THAT(OpenError(folder.path()), EndsWith("train/n02: the link leads to nothing"));
}

TEST(OpenImages, SaysWhatItLookedFor) {
  const testing::TempFolder folder;
  folder.Write("file", "");
  EXPECT_EQ(OpenError(folder.path() / "none"),
            "flag --data_dir=" + (folder.path() / "none").string() + ": there is no such folder");
  EXPECT_THAT(OpenError(folder.path() / "file"), EndsWith("file: is no folder"));
  EXPECT_THAT(OpenError(folder.path()),
              EndsWith("the folder has neither files train-*-of-* (TFRecord) nor a folder train/ of class folders"));
}

}  // namespace
}  // namespace muster::data
