#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/commands.h"
#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/record_writer.h"
#include "muster/error.h"
#include "tests/testing/golden.h"
#include "tests/testing/idx_files.h"

namespace muster::cli {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string GoldenRecordFile() { return ReadFile((testing::GoldenDir() / "tfrecord/train-00000-of-00001").string()); }

class DataCommandTest : public ::testing::Test {
 protected:
  // Its exit code; output goes to output_.
  int Run(std::vector<std::string> words) {
    ::testing::internal::CaptureStdout();
    int code = -1;
    try {
      code = DataCommand(words);
    } catch (const Error& error) {
      error_ = error.what();
    }
    output_ = ::testing::internal::GetCapturedStdout();
    return code;
  }
  std::string Flag() const { return "--data_dir=" + folder_.path().string(); }
  json Verified() {
    exit_code_ = Run({"verify", Flag(), "--json"});
    return json::parse(output_);
  }

  testing::TempFolder folder_;
  std::string output_, error_;
  int exit_code_ = -1;
};

TEST_F(DataCommandTest, VerifyFindsNothingInWholeRecords) {
  folder_.Write("train-00000-of-00001", GoldenRecordFile());
  folder_.Write("validation-00000-of-00001", testing::Gzip(GoldenRecordFile()));
  EXPECT_EQ(Run({"verify", Flag()}), 0);
  EXPECT_EQ(output_,
            "train: 12 images can be used, 0 broken, 0 odd\nvalidation: 12 images can be used, 0 broken, 0 odd\n");
}

// Bad checksums of a record and of a length, an image that is no image, a file that ends too early: each is named, and
// what lies between is found.
TEST_F(DataCommandTest, VerifyNamesEveryBrokenRecord) {
  std::string bytes = GoldenRecordFile();
  bytes[1740 + 100] ^= 1;                                         // record 1
  bytes[5296 + 1] ^= 1;                                           // length of record 3
  bytes[9694 + 200] ^= 1;                                         // record 6
  folder_.Write("train-00000-of-00002", bytes.substr(0, 18000));  // inside record 10
  folder_.Write("train-00001-of-00002", GoldenRecordFile().substr(0, 1740 + 5));
  const json parts = Verified();
  EXPECT_EQ(exit_code_, 1);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0]["subset"], "train");
  EXPECT_EQ(parts[0]["left_out"], false);
  EXPECT_EQ(parts[0]["unread"], json::array());
  EXPECT_EQ(parts[1], (json{{"subset", "validation"}, {"left_out", true}}));
  EXPECT_EQ(parts[0]["whole"], 7 + 1);
  const auto broken = parts[0]["broken"].get<std::vector<std::string>>();
  ASSERT_EQ(broken.size(), 5u);
  EXPECT_THAT(broken[0],
              EndsWith("train-00000-of-00002: record 1 at byte 1740: the checksum of its 2094 bytes is wrong"));
  EXPECT_THAT(broken[1], EndsWith("record 3 at byte 5296: the checksum of the record's length is wrong; 1585 bytes up "
                                  "to the record at byte 6881 are lost"));
  EXPECT_THAT(broken[2], HasSubstr("record 6 at byte 9694: the checksum"));
  EXPECT_THAT(broken[3], HasSubstr("record 10 at byte 17714: the file ends"));
  EXPECT_THAT(
      broken[4],
      EndsWith("train-00001-of-00002: record 1 at byte 1740: the file ends 5 bytes into the record's header of 12"));
}

// More than any memory: one cannot say whether it is there.
TEST_F(DataCommandTest, WhatDoesNotFitIntoMemoryIsUnreadAndNotBroken) {
  std::string header;
  data::AppendFixed64(&header, uint64_t{1} << 60);
  data::AppendFixed32(&header, data::MaskCrc(data::Crc32c(header)));
  folder_.Write("train-00000-of-00001", testing::Gzip(GoldenRecordFile() + header + "abc"));
  EXPECT_EQ(Run({"verify", Flag(), "--subset=train"}), 1);
  EXPECT_EQ(output_, "UNREAD  " + (folder_.path() / "train-00000-of-00001").string() +
                         ": record 12 at byte 19754: the record of 1152921504606846976 bytes does not fit into the "
                         "memory that is left; unpack the files on "
                         "disk (gunzip) first\ntrain: 12 images can be used, 0 broken, 0 odd, 1 unread\n");
  const json parts = Verified();
  EXPECT_EQ(exit_code_, 1);
  EXPECT_EQ(parts[0]["broken"], json::array());
  EXPECT_EQ(parts[0]["unread"].size(), 1u);
}

TEST_F(DataCommandTest, VerifyOfAPackedFileTellsWhatItCanReach) {
  std::string packed = testing::Gzip(GoldenRecordFile());
  packed[packed.size() / 2] ^= 1;
  folder_.Write("train-00000-of-00001", packed);
  const json parts = Verified();
  EXPECT_EQ(exit_code_, 1);
  EXPECT_FALSE(parts[0]["broken"].empty());
}

// The first length, 40056, has the bytes that announce zlib; its checksum is damaged.
TEST_F(DataCommandTest, VerifyFindsTheRecordsBehindDamageThatLooksLikeZlib) {
  const auto path = (folder_.path() / "train-00000-of-00001").string();
  data::RecordWriter writer(path);
  writer.Append(std::string(0x9c78, 'x'));
  writer.Close();
  std::string bytes = ReadFile(path) + GoldenRecordFile();
  bytes[8] ^= 1;
  folder_.Write("train-00000-of-00001", bytes);
  EXPECT_EQ(Run({"verify", Flag(), "--subset=train"}), 1);
  EXPECT_THAT(output_, HasSubstr("record 0 at byte 0: the checksum of the record's length is wrong; 40072 bytes up to "
                                 "the record at byte 40072 are lost"));
  EXPECT_THAT(output_, EndsWith("train: 12 images can be used, 1 broken, 0 odd\n"));
}

TEST_F(DataCommandTest, VerifyNamesImageFilesThatAreNone) {
  std::filesystem::create_directories(folder_.path() / "train/n01");
  folder_.Write("train/n01/a.JPEG", "no image");
  folder_.Write("train/n01/b.JPEG", "");
  EXPECT_EQ(Run({"verify", Flag()}), 1);
  EXPECT_THAT(output_, HasSubstr("a.JPEG: neither a JPEG nor a PNG image: it begins with 0x6e6f2069\n"));
  EXPECT_THAT(output_, HasSubstr("b.JPEG: the image has no bytes\n"));
  EXPECT_THAT(output_, HasSubstr("train: 0 images can be used, 2 broken, 0 odd\n"));
}

// muster train's data sets, without being told which it is.
TEST_F(DataCommandTest, VerifyReadsFilesInMnistsForm) {
  folder_.Write("train-images-idx3-ubyte", testing::ImageBytes(2, 4, 4));
  folder_.Write("train-labels-idx1-ubyte", testing::LabelBytes({1, 12}));
  EXPECT_EQ(Run({"verify", Flag(), "--subset=train"}), 0);
  EXPECT_EQ(output_, "train: 2 images can be used, 0 broken, 0 odd\n");
  EXPECT_EQ(Run({"verify", Flag()}), 1);  // training takes both parts
  EXPECT_THAT(output_, HasSubstr("the folder lacks t10k-labels-idx1-ubyte[.gz]\n"
                                 "validation: 0 images can be used, 2 broken, 0 odd\n"));
  EXPECT_EQ(Run({"verify", Flag(), "--data_name=mnist", "--subset=train"}), 1);
  EXPECT_THAT(output_, HasSubstr("train-labels-idx1-ubyte: byte 9: label 1 is 12, 0 to 9 was expected\n"
                                 "train: 1 image can be used, 1 broken, 0 odd\n"));
  EXPECT_EQ(Run({"cache", Flag(), "--cache_dir=" + (folder_.path() / "out").string()}), -1);
  EXPECT_THAT(error_, HasSubstr("idx, as its files are, needs no decoding"));
}

// In text; JSON has an escape of its own, so that it can keep the name as it is.
TEST_F(DataCommandTest, ALineStaysOneWhateverTheFileIsCalled) {
  const std::string name = "train/n01/a\nBROKEN\x1b[2J.jpg";
  std::filesystem::create_directories(folder_.path() / "train/n01");
  folder_.Write(name, "");
  EXPECT_EQ(Run({"verify", Flag()}), 1);
  EXPECT_THAT(output_, HasSubstr("BROKEN  " + folder_.path().string() +
                                 "/train/n01/a\\nBROKEN\\x1b[2J.jpg: the image has no bytes\n"));
  EXPECT_EQ(output_.find('\x1b'), std::string::npos);
  EXPECT_EQ(Verified()[0]["broken"][0], (folder_.path() / name).string() + ": the image has no bytes");
}

// Nobody can read /proc/self/mem from its beginning. The reason has the name already.
TEST_F(DataCommandTest, ANameWithALineBreakIsSaidOnce) {
  std::filesystem::create_directories(folder_.path() / "train/n01");
  std::filesystem::create_symlink("/proc/self/mem", folder_.path() / "train/n01/a\nb.jpg");
  EXPECT_EQ(Run({"verify", Flag(), "--subset=train"}), 1);
  EXPECT_THAT(output_, HasSubstr("BROKEN  cannot read " + folder_.path().string() +
                                 "/train/n01/a\\nb.jpg: Input/output error\n"));
}

TEST_F(DataCommandTest, VerifyNamesEveryBrokenImageOfCifar10) {
  std::string bytes = ReadFile((testing::GoldenDir() / "cifar10/cifar-10-batches-bin/data_batch_1.bin").string());
  bytes[0] = 10;
  bytes[2 * 3073] = 99;
  folder_.Write("data_batch_1.bin", bytes);
  folder_.Write("data_batch_2.bin", bytes.substr(0, 2 * 3073 - 1));
  EXPECT_EQ(Run({"verify", Flag(), "--data_name=cifar10", "--subset=train"}), 1);
  EXPECT_THAT(output_, HasSubstr("data_batch_1.bin: image 0 at byte 0: the label is 10"));
  EXPECT_THAT(output_, HasSubstr("data_batch_1.bin: image 2 at byte 6146: the label is 99"));
  EXPECT_THAT(output_, HasSubstr("data_batch_2.bin: the file has 6145 bytes and ends inside image 1 at byte 3073"));
  EXPECT_THAT(output_, HasSubstr("data_batch_2.bin: image 0 at byte 0: the label is 10"));
  EXPECT_THAT(output_, HasSubstr("data_batch_3.bin: this file and 2 others of the 5 are missing"));
  EXPECT_THAT(output_, HasSubstr("train: 1 image can be used, 5 broken"));
}

// As in muster bench, where the first of imagenet and cifar10 that the path contains counts.
TEST_F(DataCommandTest, TheFoldersNameSaysWhichDataSetItIs) {
  const std::string cifar10 = ReadFile((testing::GoldenDir() / "cifar10/cifar-10-batches-bin/test_batch.bin").string());
  for (const char* name : {"cifar10_x", "imagenet/cifar10"}) std::filesystem::create_directories(folder_.path() / name);
  folder_.Write("cifar10_x/test_batch.bin", cifar10);
  folder_.Write("cifar10_x/train-00000-of-00001", GoldenRecordFile());
  folder_.Write("imagenet/cifar10/train-00000-of-00001", GoldenRecordFile());
  EXPECT_EQ(Run({"verify", Flag() + "/cifar10_x"}), 0);
  EXPECT_EQ(output_, "train: not in the folder, left out\nvalidation: 3 images can be used, 0 broken, 0 odd\n");
  EXPECT_EQ(Run({"verify", Flag() + "/cifar10_x", "--data_name=imagenet"}), 0);
  EXPECT_EQ(output_, "validation: not in the folder, left out\ntrain: 12 images can be used, 0 broken, 0 odd\n");
  EXPECT_EQ(Run({"verify", Flag() + "/imagenet/cifar10"}), 0);
  EXPECT_EQ(output_, "validation: not in the folder, left out\ntrain: 12 images can be used, 0 broken, 0 odd\n");
  EXPECT_EQ(Run({"cache", Flag() + "/cifar10_x", "--cache_dir=" + folder_.path().string()}), -1);
  EXPECT_THAT(error_, EndsWith("if it is imagenet, add --data_name=imagenet"));
}

TEST_F(DataCommandTest, AFileOfCifar10ThatCannotBeReadIsBrokenAndTheOthersStillVerified) {
  const std::string bytes = ReadFile((testing::GoldenDir() / "cifar10/cifar-10-batches-bin/data_batch_1.bin").string());
  for (const int number : {1, 3, 5}) folder_.Write("data_batch_" + std::to_string(number) + ".bin", bytes);
  std::filesystem::create_directory(folder_.path() / "data_batch_2.bin");
  std::filesystem::create_symlink("/proc/self/mem",
                                  folder_.path() / "data_batch_4.bin");  // a regular file whose reading fails
  EXPECT_EQ(Run({"verify", Flag(), "--data_name=cifar10", "--subset=train"}), 1);
  EXPECT_THAT(output_,
              HasSubstr("BROKEN  " + (folder_.path() / "data_batch_2.bin").string() + ": is not a regular file\n"));
  EXPECT_THAT(output_, HasSubstr("BROKEN  cannot read " + (folder_.path() / "data_batch_4.bin").string() +
                                 ": Input/output error\n"));
  EXPECT_THAT(output_, EndsWith("train: 9 images can be used, 2 broken, 0 odd\n"));
}

TEST_F(DataCommandTest, CacheWritesWhatVerifyThenReads) {
  folder_.Write("train-00000-of-00001", GoldenRecordFile());
  const testing::TempFolder out;
  EXPECT_EQ(Run({"cache", Flag(), "--cache_dir=" + (out.path() / "c").string()}), 0);
  EXPECT_THAT(output_, HasSubstr("train.images: 12 images"));
  EXPECT_EQ(Run({"verify", "--data_dir=" + (out.path() / "c").string()}), 0);
  EXPECT_EQ(output_, "validation: not in the folder, left out\ntrain: 12 images can be used, 0 broken, 0 odd\n");
}

TEST_F(DataCommandTest, APartThatIsThereAndEmptyIsBroken) {
  std::filesystem::create_directories(folder_.path() / "train/n01");
  folder_.Write("validation-00000-of-00001", GoldenRecordFile());
  EXPECT_EQ(Run({"verify", Flag()}), 1);
  EXPECT_EQ(output_,
            "BROKEN  " + (folder_.path() / "train").string() + ": no .jpg, .jpeg or .png file in its sub-folders\n" +
                "train: 0 images can be used, 1 broken, 0 odd\nvalidation: 12 images can be used, 0 broken, 0 odd\n");
  const testing::TempFolder out;
  EXPECT_EQ(Run({"cache", Flag(), "--cache_dir=" + out.path().string()}), -1);
  EXPECT_THAT(error_, EndsWith("train: no .jpg, .jpeg or .png file in its sub-folders"));
}

TEST_F(DataCommandTest, ACacheFolderThatCannotBeIsNamedAndNotTheAbsentPart) {
  folder_.Write("train-00000-of-00001", GoldenRecordFile());
  EXPECT_EQ(Run({"cache", Flag(), "--cache_dir=/dev/null/x"}), -1);
  EXPECT_THAT(error_, HasSubstr("/dev/null/x"));
  EXPECT_EQ(output_, "validation: not in the folder, left out\n");
}

// Magic, index and trailer: whichever is damaged, the other part is still looked at.
TEST_F(DataCommandTest, ADamagedCacheIsBrokenAndTheOtherPartStillVerified) {
  folder_.Write("train-00000-of-00001", GoldenRecordFile());
  const testing::TempFolder out;
  ASSERT_EQ(Run({"cache", Flag(), "--cache_dir=" + out.path().string(), "--shorter_side=4"}), 0);
  const std::string cache = ReadFile((out.path() / "train.images").string());
  folder_.Write("validation.images", cache);
  for (const size_t at : {size_t{0}, cache.size() - 40, cache.size() - 1}) {
    std::string damaged = cache;
    damaged[at] ^= 1;
    folder_.Write("train.images", damaged);
    EXPECT_EQ(Run({"verify", Flag()}), 1) << at;
    EXPECT_THAT(output_, HasSubstr("BROKEN  " + (folder_.path() / "train.images").string() + ": ")) << at;
    EXPECT_THAT(
        output_,
        EndsWith(
            "\ntrain: 0 images can be used, 1 broken, 0 odd\nvalidation: 12 images can be used, 0 broken, 0 odd\n"))
        << at;
  }
}

TEST_F(DataCommandTest, AFolderNamedLikeARecordFileIsBroken) {
  folder_.Write("train-00000-of-00002", GoldenRecordFile());
  std::filesystem::create_directory(folder_.path() / "train-00001-of-00002");
  EXPECT_EQ(Run({"verify", Flag(), "--subset=train"}), 1);
  EXPECT_THAT(
      output_,
      EndsWith(
          "train-00001-of-00002: is a folder; a file was expected\ntrain: 12 images can be used, 1 broken, 0 odd\n"));
}

// As in training, where the decoded images come before the record files.
TEST_F(DataCommandTest, VerifyReadsWhatTrainingReads) {
  folder_.Write("train-00000-of-00001", GoldenRecordFile());
  folder_.Write("train.images", "no cache");
  EXPECT_EQ(Run({"verify", Flag(), "--subset=train"}), 1);
  EXPECT_THAT(output_, HasSubstr("train.images: is no file of decoded images"));
  EXPECT_THAT(output_, HasSubstr("train: 0 images can be used, 1 broken"));
}

TEST_F(DataCommandTest, MissingRecordFilesAreNamed) {
  for (const char* name : {"train-00000-of-00003", "train-00002-of-00003", "validation-00005-of-00008"})
    folder_.Write(name, GoldenRecordFile());
  EXPECT_EQ(Run({"verify", Flag()}), 1);
  const std::string folder = folder_.path().string();
  EXPECT_EQ(output_, "BROKEN  " + folder +
                         "/train-00001-of-00003: the file is missing\ntrain: 24 images can be used, 1 broken, 0 odd\n" +
                         "BROKEN  " + folder +
                         "/validation-00000-of-00008: this file and 6 others of the 8 are missing\n" +
                         "validation: 12 images can be used, 1 broken, 0 odd\n");
  const testing::TempFolder out;
  EXPECT_EQ(Run({"cache", Flag(), "--subset=train", "--cache_dir=" + out.path().string()}), 0);
  EXPECT_THAT(output_,
              HasSubstr("/train-00001-of-00003: the file is missing; the images of the others are in the cache\n"));
}

TEST_F(DataCommandTest, MissingFilesOfCifar10AreNamed) {
  const auto golden = testing::GoldenDir() / "cifar10/cifar-10-batches-bin";
  for (const char* name : {"data_batch_1.bin", "data_batch_3.bin", "test_batch.bin"})
    folder_.Write(name, ReadFile((golden / name).string()));
  EXPECT_EQ(Run({"verify", Flag(), "--data_name=cifar10"}), 1);
  EXPECT_EQ(output_,
            "BROKEN  " + (folder_.path() / "data_batch_2.bin").string() +
                ": this file and 2 others of the 5 are missing\n" +
                "train: 6 images can be used, 1 broken, 0 odd\nvalidation: 3 images can be used, 0 broken, 0 odd\n");
}

TEST_F(DataCommandTest, JsonSaysWhichPartWasLeftOut) {
  folder_.Write("validation-00000-of-00001", GoldenRecordFile());
  const testing::TempFolder out;
  const json left_out = {{"subset", "train"}, {"left_out", true}};
  const json verified = Verified();
  ASSERT_EQ(verified.size(), 2u);
  EXPECT_EQ(verified[0]["subset"], "validation");
  EXPECT_EQ(verified[1], left_out);
  EXPECT_EQ(Run({"cache", Flag(), "--json", "--cache_dir=" + out.path().string()}), 0);
  const json cached = json::parse(output_);
  ASSERT_EQ(cached.size(), 2u);
  EXPECT_EQ(cached[0]["subset"], "validation");
  EXPECT_EQ(cached[0]["left_out"], false);
  EXPECT_EQ(cached[1], left_out);
  EXPECT_EQ(Run({"verify", Flag(), "--json", "--subset=validation"}), 0);
  EXPECT_EQ(json::parse(output_).size(), 1u);
}

TEST_F(DataCommandTest, CacheOfABrokenImageLeavesNoFile) {
  std::string bytes = GoldenRecordFile();
  bytes[1740 + 100] ^= 1;
  folder_.Write("train-00000-of-00001", bytes);
  const testing::TempFolder out;
  EXPECT_EQ(Run({"cache", Flag(), "--cache_dir=" + out.path().string()}), -1);
  EXPECT_THAT(error_, HasSubstr("record 1 at byte 1740"));
  EXPECT_TRUE(std::filesystem::is_empty(out.path()));
}

TEST_F(DataCommandTest, BadRequestsAreOneLine) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"verify"},
                                             {"cache", Flag()},
                                             {"look", Flag()},
                                             {"verify", Flag() + "/none"},
                                             {"verify", Flag()},
                                             {"verify", Flag(), "--cache_dir=x"},
                                             {"cache", Flag(), "--cache_dir=" + folder_.path().string()},
                                             {"cache", Flag(), "--data_name=cifar10", "--cache_dir=x"}}) {
    error_.clear();
    EXPECT_EQ(Run(words), -1);
    EXPECT_FALSE(error_.empty());
    EXPECT_EQ(error_.find('\n'), std::string::npos) << error_;
  }
}

}  // namespace
}  // namespace muster::cli
