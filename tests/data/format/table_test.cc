#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/format/table.h"

#include <cstring>
#include <map>

#include <fmt/format.h>

#include "data/format/coding.h"
#include "data/format/crc32c.h"
#include "data/format/table_layout.h"

#include "tests/data/error_of.h"

namespace muster::data {
namespace {

using ::testing::HasSubstr;

std::map<std::string, std::string> ManyEntries() {
  std::map<std::string, std::string> entries = {{"", "header"}};
  for (int i = 0; i < 5000; ++i)
    entries[fmt::format("scope{}/variable{:05}", i % 7, i)] = std::string(static_cast<size_t>(i % 200), 'x');
  return entries;
}

std::string TableOf(const std::map<std::string, std::string>& entries) {
  TableBuilder builder;
  for (const auto& [key, value] : entries) builder.Add(key, value);
  return builder.Finish();
}

TEST(Table, SeveralBlocksAreReadBack) {
  const std::map<std::string, std::string> entries = ManyEntries();
  const std::vector<TableEntry> read = ParseTable("t", TableOf(entries));
  ASSERT_EQ(read.size(), entries.size());
  size_t i = 0;
  for (const auto& [key, value] : entries) {
    EXPECT_EQ(read[i].key, key);
    EXPECT_EQ(read[i].value, value);
    ++i;
  }
  EXPECT_GT(read.back().block_offset, 256 << 10) << "the test should need more than one block";
}

TEST(Table, ATableOfNothingIsReadBack) { EXPECT_TRUE(ParseTable("t", TableOf({})).empty()); }

TEST(Table, AFlippedBitIsFoundAndItsBlockNamed) {
  std::string file = TableOf({{"", "header"}, {"a", "1"}, {"b", "2"}});
  file[5] = static_cast<char>(file[5] ^ 4);
  EXPECT_THAT(ErrorOf([&] { ParseTable("model.index", file); }), HasSubstr("model.index: at byte 0: the block of"));
}

// An empty block in front of the index block: one restart point, which is 8 bytes, and a trailer.
TEST(Table, AFlippedBitOfTheMetaBlockIsFoundByVerifyingOnly) {
  const std::string whole = TableOf({{"a", "1"}});
  EXPECT_NO_THROW(VerifyMetaBlock("t", whole));
  std::string_view footer = std::string_view(whole).substr(whole.size() - kFooterBytes);
  uint64_t offset = 0, size = 0;
  ASSERT_TRUE(TakeVarint(&footer, &offset) && TakeVarint(&footer, &size));
  ASSERT_EQ(size, 8u);
  for (uint64_t at = offset; at < offset + size + kBlockTrailerBytes; ++at) {
    std::string file = whole;
    file[at] = static_cast<char>(file[at] ^ 1);
    EXPECT_EQ(
        ErrorOf([&] { VerifyMetaBlock("m.index", file); }),
        fmt::format(
            "m.index: at byte {}: the meta block of 8 bytes that begins here does not have the checksum noted for it",
            offset));
    EXPECT_EQ(ParseTable("m.index", file).size(), 1u);
  }
}

TEST(Table, WhatIsCutOffOrNoTableIsRefused) {
  const std::string file = TableOf({{"a", "1"}});
  EXPECT_THAT(ErrorOf([&] { ParseTable("t", file.substr(0, 20)); }),
              HasSubstr("t: has 20 bytes; an index has at least 48"));
  EXPECT_THAT(ErrorOf([&] { ParseTable("t", file.substr(0, file.size() - 1)); }),
              HasSubstr("the number that ends every index is not there"));
  EXPECT_THAT(ErrorOf([&] { ParseTable("t", std::string(100, 'x')); }), HasSubstr("is no index"));
}

// A block of 1 MB that holds nothing, named a thousand times: reading it each time would take a GB of a file that has
// one MB.
TEST(Table, ABlockThatIsNamedTwiceIsRefused) {
  const auto block = [](std::string bytes) {
    bytes.push_back(kPlainBlock);
    AppendFixed32(&bytes, MaskCrc(Crc32c(bytes)));
    return bytes;
  };
  const auto handle = [](size_t offset, size_t size) {
    std::string bytes;
    AppendVarint(&bytes, offset);
    AppendVarint(&bytes, size);
    return bytes;
  };
  std::string empty(size_t{1} << 20, '\0');  // restart points, and how many
  const auto restarts = static_cast<uint32_t>(empty.size() / 4 - 1);
  std::memcpy(empty.data() + empty.size() - 4, &restarts, sizeof restarts);
  const size_t size = empty.size();
  std::string index;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = fmt::format("{:04}", i), value = handle(0, size);
    index += std::string{'\0', '\4', static_cast<char>(value.size())} + key + value;
  }
  AppendFixed32(&index, 0);
  std::string file = block(empty);
  const std::string footer = handle(0, 0) + handle(file.size(), index.size());
  file += block(index) + footer + std::string(kFooterBytes - sizeof kTableMagic - footer.size(), '\0');
  AppendFixed64(&file, kTableMagic);
  EXPECT_EQ(ErrorOf([&] { ParseTable("t", file); }), "t: at byte 0: a block begins inside the one before it");
}

TEST(Table, NoDamageOfOneByteGoesUnnoticedOrCrashes) {
  const std::string file = TableOf({{"", "header"}, {"a", "1"}, {"ab", "2"}, {"b", std::string(300, 'v')}});
  const std::vector<TableEntry> right = ParseTable("t", file);
  for (size_t at = 0; at < file.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string broken = file;
      broken[at] = static_cast<char>(broken[at] ^ change);
      try {
        const std::vector<TableEntry> read = ParseTable("t", broken);
        ASSERT_EQ(read.size(), right.size()) << at;  // padding, or the block of nothing, which is not read
        for (size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].value, right[i].value) << at;
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == Code::kDataLoss || error.code() == Code::kUnimplemented) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace muster::data
