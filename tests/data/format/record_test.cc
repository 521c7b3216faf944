#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/format/record_layout.h"
#include "data/format/record_reader.h"
#include "data/format/record_scan.h"
#include "data/format/record_writer.h"
#include "tests/data/error_of.h"
#include "tests/data/format/files.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<std::string> ReadAll(const std::string& path) {
  RecordReader reader(path);
  std::vector<std::string> records;
  for (std::string record; reader.Next(&record);) records.push_back(record);
  return records;
}

class GoldenRecords : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenRecords, LiesWhereTensorFlowListsIt) {
  const json contents = testing::GoldenJson("tfrecord/contents.json");
  RecordReader reader(GoldenPath(std::string("tfrecord/train-00000-of-00001") + GetParam()));
  std::string record;
  for (const json& expected : contents["records"]) {
    ASSERT_TRUE(reader.Next(&record));
    EXPECT_EQ(reader.offset(), expected["record_offset"].get<int64_t>());
    EXPECT_EQ(record.size(), expected["record_length"].get<size_t>());
    EXPECT_NE(record.find(expected["filename"].get<std::string>()), std::string::npos);
  }
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_EQ(reader.is_packed(), *GetParam() != '\0');
}

INSTANTIATE_TEST_SUITE_P(Packings, GoldenRecords, ::testing::Values("", ".gz", ".zlib"));

TEST(Records, WrittenAgainTheyAreTheSameBytes) {
  const testing::TempFolder folder;
  const std::string golden = GoldenPath("tfrecord/train-00000-of-00001"), copy = (folder.path() / "copy").string();
  RecordWriter writer(copy);
  for (const std::string& record : ReadAll(golden)) writer.Append(record);
  writer.Close();
  EXPECT_TRUE(ReadFile(copy) == ReadFile(golden));
}

TEST(Records, EveryPackingComesBack) {
  const testing::TempFolder folder;
  std::vector<std::string> records;
  for (size_t i = 0; i < 40; ++i) records.emplace_back(i * i * 40, static_cast<char>('a' + i % 26));
  for (const Packing packing : {Packing::kNone, Packing::kGzip, Packing::kZlib}) {
    const std::string path = (folder.path() / "records").string();
    RecordWriter writer(path, packing);
    for (const std::string& record : records) writer.Append(record);
    writer.Close();
    EXPECT_EQ(ReadAll(path), records);
  }
}

// The length of the first record is the magic number of gzip, or of zlib.
TEST(Records, APlainFileThatBeginsLikeAPackedOneIsRead) {
  const testing::TempFolder folder;
  for (const size_t length : {0x8b1f, 0x088b1f, 0x9c78}) {
    const std::string path = (folder.path() / "records").string();
    RecordWriter writer(path);
    writer.Append(std::string(length, 'x'));
    writer.Close();
    EXPECT_EQ(ReadAll(path), (std::vector<std::string>{std::string(length, 'x')}));
  }
}

// The same, and the checksum of that length is damaged: what can be unpacked of it is nothing.
TEST(Records, APlainFileThatBeginsLikeAPackedOneMayBeDamaged) {
  const testing::TempFolder folder;
  for (const size_t length : {0x088b1f, 0x9c78}) {
    const std::string path = (folder.path() / "records").string();
    RecordWriter writer(path);
    writer.Append(std::string(length, '\xff'));
    writer.Append("second");
    writer.Close();
    std::string bytes = ReadFile(path);
    bytes[8] = static_cast<char>(bytes[8] ^ 1);
    folder.Write("records", bytes);
    EXPECT_EQ(ErrorOf([&] { ReadAll(path); }), path +
                                                   ": record 0 at byte 0: the checksum of the record's length is "
                                                   "wrong; where the next record begins is not known");
    std::vector<std::string> found;
    ScanRecords(InputFile(path), [&](const ScannedRecord& record) { found.push_back(record.bytes); });
    EXPECT_EQ(found, (std::vector<std::string>{"", "second"}));
  }
}

TEST(Records, APackedFileThatIsDamagedAtItsBeginningStaysAPackedOne) {
  const testing::TempFolder folder;
  std::string bytes = ReadFile(GoldenPath("tfrecord/train-00000-of-00001.zlib"));
  bytes[2] = static_cast<char>(bytes[2] | 6);  // a block of the type that there is not
  const std::string path = folder.Write("records", bytes).string();
  EXPECT_THAT(ErrorOf([&] { ReadAll(path); }), HasSubstr("the zlib stream is corrupt at byte"));
}

// As gzip -n writes it: without a time, so that the first bytes may also be a length.
TEST(Records, AGzipFileWithoutATimeThatIsDamagedAtItsBeginningStaysAPackedOne) {
  const testing::TempFolder folder;
  for (const char extra : {0, 2, 4}) {
    for (const char system : {3, -1}) {
      std::string bytes = testing::Gzip(ReadFile(GoldenPath("tfrecord/train-00000-of-00001")));
      bytes.replace(4, 6, {0, 0, 0, 0, extra, system});
      bytes[10] = static_cast<char>(bytes[10] | 6);  // a block of the type that there is not
      const std::string path = folder.Write("records", bytes).string();
      EXPECT_THAT(ErrorOf([&] { ReadAll(path); }), HasSubstr("the gzip stream is corrupt at byte"));
    }
  }
}

TEST(Records, DamageOfThePackingEndsReading) {
  const testing::TempFolder folder;
  std::string bytes = ReadFile(GoldenPath("tfrecord/train-00000-of-00001.zlib"));
  bytes.resize(bytes.size() / 2);
  RecordReader reader(folder.Write("records", bytes).string());
  std::string record;
  EXPECT_THAT(ErrorOf([&] {
                while (reader.Next(&record)) {
                }
              }),
              HasSubstr("the zlib stream breaks off"));
  EXPECT_TRUE(reader.is_lost());
  EXPECT_FALSE(reader.Next(&record));
}

TEST(Records, ARecordBeyondTheLimitIsRefusedBeforeItIsRead) {
  const testing::TempFolder folder;
  std::string header;
  AppendFixed64(&header, 101);
  AppendFixed32(&header, MaskCrc(Crc32c(header)));
  RecordReader reader(folder.Write("records", header).string());  // its bytes are not even there
  reader.set_admission([](uint64_t bytes) { return bytes <= 100; });
  std::string record;
  EXPECT_EQ(ErrorOf([&] { reader.Next(&record); }),
            (folder.path() / "records").string() +
                ": record 0 at byte 0: the record of 101 bytes does not fit into the memory that is left");
  EXPECT_TRUE(reader.is_lost());
  EXPECT_EQ(record.capacity(), std::string().capacity());
}

TEST(Records, AWrongByteIsNamedAndTheNextRecordStillRead) {
  const testing::TempFolder folder;
  std::string bytes = ReadFile(GoldenPath("tfrecord/train-00000-of-00001"));
  bytes[100] = static_cast<char>(bytes[100] ^ 8);
  const std::string path = folder.Write("records", bytes).string();
  RecordReader reader(path);
  std::string record;
  EXPECT_EQ(ErrorOf([&] { reader.Next(&record); }),
            path + ": record 0 at byte 0: the checksum of its 1724 bytes is wrong");
  EXPECT_FALSE(reader.is_lost());
  EXPECT_TRUE(reader.Next(&record));
  EXPECT_EQ(reader.index(), 1);
}

TEST(Records, AWrongLengthEndsReading) {
  const testing::TempFolder folder;
  std::string bytes = ReadFile(GoldenPath("tfrecord/train-00000-of-00001"));
  bytes[1724 + 16 + 6] = 127;  // the second record claims petabytes
  RecordReader reader(folder.Write("records", bytes));
  std::string record;
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_THAT(ErrorOf([&] { reader.Next(&record); }),
              HasSubstr("record 1 at byte 1740: the checksum of the record's length is wrong"));
  EXPECT_TRUE(reader.is_lost());
  EXPECT_FALSE(reader.Next(&record));
}

TEST(Records, EveryCutIsNoticedButThoseBetweenRecords) {
  const testing::TempFolder folder;
  const std::string path = (folder.path() / "records").string();
  RecordWriter writer(path);
  for (const char* record : {"first", "", "third record"}) writer.Append(record);
  writer.Close();
  const std::string bytes = ReadFile(path);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = folder.Write("cut", bytes.substr(0, size)).string();
    if (size == 0 || size == 21 || size == 37) {
      EXPECT_NO_THROW(ReadAll(cut));
    } else {
      EXPECT_THAT(ErrorOf([&] { ReadAll(cut); }), HasSubstr("cut: record")) << size;
    }
  }
}

// A length whose checksum is right is believed only as far as the file goes.
TEST(Records, AHugeLengthTakesNoMemory) {
  const testing::TempFolder folder;
  std::string header;
  AppendFixed64(&header, uint64_t{1} << 60);
  AppendFixed32(&header, MaskCrc(Crc32c(header)));
  EXPECT_THAT(ErrorOf([&] { ReadAll(folder.Write("records", header + "abc").string()); }),
              HasSubstr("the file ends 3 bytes into the record of 1152921504606846976"));
}

TEST(Records, AFullDiskIsNamed) {
  EXPECT_THAT(ErrorOf([] {
                RecordWriter writer("/dev/full");
                writer.Append(std::string(100, 'x'));
                writer.Flush();
              }),
              HasSubstr("cannot write /dev/full: No space left on device"));
}

}  // namespace
}  // namespace muster::data
