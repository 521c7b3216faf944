// What happens to checkpoints that are damaged, and when writing one fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>

#include <fmt/format.h>

#include "base/file.h"
#include "base/output_file.h"
#include "base/temporary_name.h"
#include "data/format/bundle_messages.h"
#include "data/format/bundle_reader.h"
#include "data/format/bundle_writer.h"
#include "data/format/table.h"
#include "tests/data/error_of.h"
#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::testing::HasSubstr;

class Bundle : public ::testing::Test {
 protected:
  std::string Prefix(const std::string& name = "model.ckpt-7") const { return (folder_.path() / name).string(); }
  void Damage(const std::string& file, size_t at, int change = 1) const {
    std::string bytes = ReadFile((folder_.path() / file).string());
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ change);
    folder_.Write(file, bytes);
  }
  void Cut(const std::string& file, size_t size) const {
    folder_.Write(file, ReadFile((folder_.path() / file).string()).substr(0, size));
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  // Every tensor, by all ways of reading.
  void ReadAll() const {
    const BundleReader bundle(Prefix());
    for (const BundleEntry& entry : bundle.entries()) {
      bundle.Verify(entry);
      if (entry.data_type == kStringDataType) bundle.ReadStrings(entry.name);
      else bundle.Read(entry.name);
    }
  }

  testing::TempFolder folder_;
};

constexpr char kData[] = "model.ckpt-7.data-00000-of-00001";
constexpr char kIndex[] = "model.ckpt-7.index";

TEST_F(Bundle, AFlippedBitInTheDataNamesFileTensorAndByte) {
  CopyGolden("ckpt/small", folder_.path());
  Damage(kData, 7);  // the second element of counts_i32, which begins at byte 6
  EXPECT_EQ(ErrorOf([&] { BundleReader(Prefix()).Read("counts_i32"); }),
            fmt::format("{}: tensor counts_i32 at byte 6: the checksum of its 28 bytes is wrong",
                        Prefix() + ".data-00000-of-00001"));
  EXPECT_NO_THROW(BundleReader(Prefix()).Read("bf16"));
}

TEST_F(Bundle, NoFlippedBitOfTheDataGoesUnnoticed) {
  CopyGolden("ckpt/small", folder_.path());
  for (const size_t at : {0, 50, 90, 588, 590, 592, 595, 606, 700, 7000}) {
    Damage(kData, at, 0x20);
    EXPECT_THAT(ErrorOf([&] { ReadAll(); }), HasSubstr(kData)) << at;
    Damage(kData, at, 0x20);
  }
  EXPECT_NO_THROW(ReadAll());
}

TEST_F(Bundle, NoDamageToTheIndexGoesUnnoticedOrCrashes) {
  CopyGolden("ckpt/partitioned", folder_.path());
  const std::string index = ReadFile((folder_.path() / kIndex).string());
  constexpr size_t kBehindTheEntries = 48 + 33;  // footer, index of blocks, block of nothing: table_test.cc
  for (size_t at = 0; at < index.size() - kBehindTheEntries; at += 3) {
    Damage(kIndex, at, 0x10);
    EXPECT_THAT(ErrorOf([&] { ReadAll(); }), HasSubstr(kIndex)) << at;
    folder_.Write(kIndex, index);
  }
}

TEST_F(Bundle, CutOffFilesAreOneClearLine) {
  CopyGolden("ckpt/small", folder_.path());
  Cut(kData, 100);
  EXPECT_THAT(
      ErrorOf([&] { ReadAll(); }),
      HasSubstr("bytes reach beyond the end of the file at byte 100: it was cut off, or belongs to another index"));
  Cut(kData, 0);
  EXPECT_THAT(ErrorOf([&] { ReadAll(); }), HasSubstr("tensor bf16 at byte 0: its 6 bytes reach beyond the end"));
  Cut(kIndex, 1000);
  EXPECT_THAT(ErrorOf([&] { ReadAll(); }), HasSubstr("the number that ends every index is not there"));
  Cut(kIndex, 0);
  EXPECT_THAT(ErrorOf([&] { ReadAll(); }), HasSubstr("model.ckpt-7.index: has 0 bytes"));
}

TEST_F(Bundle, MissingFilesAreNamed) {
  EXPECT_THAT(ErrorOf([&] { BundleReader reader(Prefix()); }), HasSubstr("model.ckpt-7.index: No such file"));
  CopyGolden("ckpt/two_shards", folder_.path());
  std::filesystem::remove(folder_.path() / "model.ckpt-7.data-00001-of-00003");
  const BundleReader bundle(Prefix());
  EXPECT_NO_THROW(bundle.Read("shard1/w0"));
  EXPECT_THAT(ErrorOf([&] { bundle.Read("shard0/w0"); }),
              HasSubstr("model.ckpt-7.data-00001-of-00003: no such file; tensor shard0/w0 of the checkpoint is in it"));
}

TEST_F(Bundle, AskingForWhatIsNotThereIsAnError) {
  const BundleReader bundle(GoldenPath("ckpt/small/model.ckpt-7"));
  EXPECT_THAT(ErrorOf([&] { bundle.Read("nothing"); }), HasSubstr("holds no tensor nothing"));
  EXPECT_THAT(ErrorOf([&] { bundle.Read("text"); }),
              HasSubstr("tensor text is of string, which Muster does not compute with"));
  EXPECT_THAT(ErrorOf([&] { bundle.ReadStrings("bf16"); }), HasSubstr("tensor bf16 is of bfloat16, not string"));
}

TEST_F(Bundle, NothingIsThereBeforeFinishAndNothingIsLeftWithoutIt) {
  {
    BundleWriter writer(Prefix());
    writer.Add("a", Tensor::Scalar<float>(1));
    EXPECT_THROW(BundleReader reader(Prefix()), Error);
  }
  EXPECT_TRUE(Files().empty());
}

TEST_F(Bundle, ASecondCheckpointOfTheSameNameReplacesTheFirstWhole) {
  for (const int shards : {3, 1}) {
    BundleWriter writer(Prefix(), shards);
    writer.Add("a", Tensor::Scalar<float>(static_cast<float>(shards)));
    writer.Finish();
  }
  EXPECT_EQ(BundleReader(Prefix()).Read("a").scalar<float>(), 1.0f);
  EXPECT_EQ(Files(), (std::vector<std::string>{kData, kIndex}));
}

TEST_F(Bundle, TheSameNameTwiceIsRefused) {
  BundleWriter writer(Prefix());
  writer.Add("a", Tensor::Scalar<float>(1));
  EXPECT_THAT(ErrorOf([&] {
                writer.AddSlice("a", {4}, {{{0, 2}}}, Tensor(DType::kFloat32, {2}));
              }),
              HasSubstr("tensor a comes twice"));
  EXPECT_THAT(ErrorOf([&] { writer.Add("a", Tensor::Scalar<float>(1)); }), HasSubstr("tensor a comes twice"));
}

// As many elements as the tensor has, but not each of them.
TEST_F(Bundle, SlicesThatOverlapAreRefused) {
  BundleWriter writer(Prefix());
  writer.AddSlice("p", {2, 4}, {{{0, 1}, {0, -1}}}, Tensor(DType::kFloat32, {1, 4}));
  writer.AddSlice("p", {2, 4}, {{{0, 2}, {1, 2}}}, Tensor(DType::kFloat32, {2, 2}));
  writer.Finish();
  const BundleReader bundle(Prefix());
  const std::string expected = Prefix() + ".index: the slices of tensor p overlap, and leave out its element 4";
  EXPECT_EQ(ErrorOf([&] { bundle.Read("p"); }), expected);
  EXPECT_EQ(ErrorOf([&] { bundle.Verify(*bundle.Find("p")); }), expected);
}

TEST_F(Bundle, SlicesThatAreMissingAreFoundByVerify) {
  BundleWriter writer(Prefix());
  writer.AddSlice("p", {4}, {{{0, 3}}}, Tensor(DType::kFloat32, {3}));
  writer.Finish();
  const BundleReader bundle(Prefix());
  EXPECT_THAT(ErrorOf([&] { bundle.Verify(*bundle.Find("p")); }),
              HasSubstr("the slices of tensor p hold 3 elements of 4"));
}

// An index that nobody wrote: two tensors over the same bytes of the data file.
TEST_F(Bundle, TensorsThatShareBytesAreRefused) {
  TableBuilder table;
  table.Add("", BundleHeaderBytes(1));
  for (const char* name : {"a", "b"})
    table.Add(name, BundleEntryBytes(
                        {.name = "", .data_type = 4, .shape = {6}, .offset = name[0] == 'a' ? 0 : 5, .size = 6}));
  folder_.Write(kIndex, table.Finish());
  folder_.Write(kData, std::string(11, 'x'));
  EXPECT_THAT(ErrorOf([&] { BundleReader reader(Prefix()); }),
              HasSubstr("model.ckpt-7.index: tensor a and tensor b would share byte 5 of " + Prefix() +
                        ".data-00000-of-00001"));
}

// A full disk, as far as a test can have one: the limit on the size of files.
TEST_F(Bundle, WhenTheDiskIsFullTheOldCheckpointStays) {
  {
    BundleWriter writer(Prefix());
    writer.Add("a", Tensor::Scalar<float>(42));
    writer.Finish();
  }
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = ErrorOf([&] {
    BundleWriter writer(Prefix());
    writer.Add("a", Tensor(DType::kFloat32, {1 << 20}));
    writer.Finish();
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(error, HasSubstr(fmt::format("cannot write {}", Prefix() + ".data-00000-of-00001")));
  EXPECT_EQ(BundleReader(Prefix()).Read("a").scalar<float>(), 42.0f);
  EXPECT_EQ(Files(), (std::vector<std::string>{kData, kIndex}));
}

TEST_F(Bundle, AFolderThatIsNotThereIsNamed) {
  EXPECT_THAT(ErrorOf([&] { BundleWriter writer(Prefix("nowhere/model")); }),
              HasSubstr("nowhere/model.data-00000-of-00001: No such file or directory"));
}

TEST_F(Bundle, FilesOfProcessesThatAreGoneAreRemoved) {
  constexpr pid_t kNobody = 4194304;  // above the largest process id
  folder_.Write(TemporaryName("model.ckpt-3.index", kNobody), "");
  folder_.Write(TemporaryName("model.ckpt-3.index"), "");
  folder_.Write(TemporaryName("other.index", kNobody), "");
  RemoveAbandonedFiles(folder_.path().string(), "model.ckpt");
  EXPECT_EQ(Files(),
            (std::vector<std::string>{TemporaryName("model.ckpt-3.index"), TemporaryName("other.index", kNobody)}));
}

}  // namespace
}  // namespace muster::data
