#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/format/crc32c.h"

#include <string>

namespace muster::data {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, AgreesWithTheValuesOfTheIscsiStandard) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) rising.push_back(static_cast<char>(i)), falling.push_back(static_cast<char>(31 - i));
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(Crc32c(falling), 0x113fdb5cu);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Crc32c, InstructionAndTableAgreeAtEveryLengthAndOffset) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes.push_back(static_cast<char>(i * i * 7 + 3 * i));
  for (size_t begin = 0; begin < 9; ++begin)
    for (size_t size = 0; begin + size <= 60; ++size)
      EXPECT_EQ(ExtendCrc32c(5, bytes.data() + begin, size), ExtendCrc32cPortable(5, bytes.data() + begin, size));
}

TEST(Crc32c, PiecesExtendToTheWhole) {
  const std::string bytes = "a checksum may be taken piece by piece";
  for (size_t cut = 0; cut <= bytes.size(); ++cut)
    EXPECT_EQ(ExtendCrc32c(Crc32c(bytes.substr(0, cut)), bytes.data() + cut, bytes.size() - cut), Crc32c(bytes));
}

TEST(Crc32c, MaskingRotatesAndAddsAConstant) {
  constexpr uint32_t kConstant = 0xa282ead8u;
  EXPECT_EQ(MaskCrc(0), kConstant);
  EXPECT_EQ(MaskCrc(1), kConstant + (1u << 17));
  EXPECT_EQ(MaskCrc(1u << 15), kConstant + 1);
  EXPECT_EQ(MaskCrc(0xffffffffu), kConstant - 1);
}

}  // namespace
}  // namespace muster::data
