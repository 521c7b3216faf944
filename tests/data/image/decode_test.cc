#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/format/png.h"
#include "data/image/decode.h"
#include "data/imagenet/record_images.h"
#include "tests/data/error_of.h"
#include "tests/testing/golden.h"

namespace muster::data {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string GoldenImage(int64_t record) {
  return OpenRecordImages({testing::GoldenDir() / "tfrecord/train-00000-of-00001"}, 1001)->Get(record).bytes;
}

std::string DecodeError(std::string_view bytes) {
  RgbImage image;
  return ErrorOf([&] { DecodeImage(bytes, {}, {}, &image); });
}

TEST(DecodeImage, WhatIsNoImageSaysWhatItBeginsWith) {
  EXPECT_EQ(DecodeError(""), "the image has no bytes");
  EXPECT_EQ(DecodeError("GIF89a"), "neither a JPEG nor a PNG image: it begins with 0x47494638");
}

TEST(DecodeImage, ATruncatedImageIsAnErrorWhereverItEnds) {
  for (const int64_t record : {0, 4, 7}) {  // JPEG, progressive JPEG, PNG
    const std::string bytes = GoldenImage(record);
    for (size_t size = 9; size < bytes.size() - 60; size += 61)
      EXPECT_THAT(DecodeError(bytes.substr(0, size)), StartsWith("not a whole ")) << record << " cut to " << size;
  }
}

TEST(DecodeImage, EveryFlippedByteIsReadOrRefused) {
  for (const int64_t record : {2, 4, 5, 6, 7}) {
    const std::string bytes = GoldenImage(record);
    for (size_t at = 0; at < bytes.size(); at += 3) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
      RgbImage image;
      try {
        DecodeImage(damaged, {}, {}, &image);
        ReadImageSize(damaged);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kDataLoss);
      }
    }
  }
}

TEST(DecodeImage, APartOfAPngIsCutOut) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 6 * 5 * 3; ++i) pixels.push_back(static_cast<uint8_t>(i));
  RgbImage image;
  DecodeImage(EncodePng(pixels, 6, 5, 3), {}, CropWindow{2, 1, 3, 2}, &image);
  ASSERT_EQ(image.height, 3);
  ASSERT_EQ(image.width, 2);
  for (int y = 0; y < 3; ++y)
    for (int i = 0; i < 6; ++i) EXPECT_EQ(image.row(y)[i], ((y + 2) * 5 + 1) * 3 + i);
}

TEST(DecodeImage, GreyAndTransparentPngsBecomeRgb) {
  RgbImage image;
  DecodeImage(EncodePng(std::vector<uint8_t>{7, 200}, 1, 2, 1), {}, {}, &image);
  EXPECT_THAT(image.pixels, ::testing::ElementsAre(7, 7, 7, 200, 200, 200));
  DecodeImage(EncodePng(std::vector<uint8_t>{1, 2, 3, 0, 4, 5, 6, 128}, 1, 2, 4), {}, {}, &image);
  EXPECT_THAT(image.pixels, ::testing::ElementsAre(1, 2, 3, 4, 5, 6));
}

// A header of a few bytes may claim 65535 x 65535 pixels.
TEST(DecodeImage, ClaimsOfTooManyPixelsAreRefused) {
  std::string bytes = GoldenImage(0);
  const size_t frame = bytes.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  bytes.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  EXPECT_THAT(DecodeError(bytes), HasSubstr("65500x65500 pixels, which is too large"));
}

// Any part of an image that a JPEG decoder skips to is, away from its edges, the part of the whole.
TEST(DecodeImage, APartOfAJpegIsThePartOfTheWhole) {
  const std::string bytes = GoldenImage(0);
  RgbImage whole;
  DecodeImage(bytes, {DctMethod::kIntegerAccurate, false}, {}, &whole);
  for (const CropWindow& window :
       {CropWindow{0, 0, 48, 64}, {17, 23, 20, 30}, {47, 63, 1, 1}, {0, 40, 48, 24}, {30, 0, 18, 5}}) {
    RgbImage part, expected = whole;
    DecodeImage(bytes, {DctMethod::kIntegerAccurate, false}, window, &part);
    CutOut(window, &expected);
    EXPECT_EQ(part.pixels, expected.pixels) << window.y << " " << window.x;
  }
}

}  // namespace
}  // namespace muster::data
