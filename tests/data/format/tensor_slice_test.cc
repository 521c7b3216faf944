#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/format/tensor_slice.h"

#include <numeric>

namespace muster::data {
namespace {

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return hex;
}

// Keys of golden/ckpt/partitioned.
TEST(TensorSlice, KeysAreTensorFlows) {
  EXPECT_EQ(Hex(SliceKey("part/cols", {{{0, 4}, {0, 5}}})), "00706172742f636f6c730001010280848085");
  EXPECT_EQ(Hex(SliceKey("part/weights", {{{8, 3}, {0, 6}}})), "00706172742f776569676874730001010288838086");
}

// By hand from the rule: n bytes hold 7n - 1 bits and a sign, and begin with n ones.
TEST(TensorSlice, KeysOfLargeAndNegativeNumbersFollowTheRule) {
  EXPECT_EQ(Hex(SliceKey("", {{{63, -1}}})), "0000010101bf7f");
  EXPECT_EQ(Hex(SliceKey("", {{{64, 8191}}})), "0000010101c040dfff");
  EXPECT_EQ(Hex(SliceKey("", {{{8192, 0}}})), "0000010101e0200080");
  EXPECT_EQ(Hex(SliceKey("", {{{int64_t{1} << 62, 0}}})), "0000010101ffc0400000000000000080");
}

TEST(TensorSlice, KeysSortAsTheirNumbers) {
  std::string last;
  for (const int64_t start : {0, 1, 63, 64, 200, 8191, 8192, 1 << 20, 1 << 28, (1 << 30)}) {
    const std::string key = SliceKey("v", {{{start, 1}}});
    EXPECT_GT(key, last) << start;
    last = key;
  }
}

TEST(TensorSlice, PartsComeToTheirPlaces) {
  const Shape whole{3, 4, 5};
  std::vector<uint8_t> values(60), joined(60, 255);
  std::iota(values.begin(), values.end(), uint8_t{0});
  for (const int64_t column : {0, 1, 3}) {
    const TensorSlice slice{{{0, -1}, {column, column == 1 ? 2 : 1}, {0, 5}}};
    ASSERT_TRUE(slice.FitsInto(whole));
    const Shape part = slice.ShapeIn(whole);
    std::vector<char> bytes;
    for (int64_t i = 0; i < part[0]; ++i)
      for (int64_t j = 0; j < part[1]; ++j)
        for (int64_t k = 0; k < part[2]; ++k)
          bytes.push_back(static_cast<char>(values[static_cast<size_t>(i * 20 + (column + j) * 5 + k)]));
    CopySlice(slice, whole, 1, bytes.data(), reinterpret_cast<char*>(joined.data()));
  }
  EXPECT_EQ(joined, values);
}

TEST(TensorSlice, WhatReachesOutsideDoesNotFit) {
  const Shape whole{4};
  EXPECT_TRUE((TensorSlice{{{1, 3}}}).FitsInto(whole));
  EXPECT_FALSE((TensorSlice{{{2, 3}}}).FitsInto(whole));
  EXPECT_FALSE((TensorSlice{{{-1, 2}}}).FitsInto(whole));
  EXPECT_FALSE((TensorSlice{{{INT64_MAX, 2}}}).FitsInto(whole));
  EXPECT_FALSE((TensorSlice{{{0, 1}, {0, 1}}}).FitsInto(whole));
}

}  // namespace
}  // namespace muster::data
