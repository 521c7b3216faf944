#include "data/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/interrupt.h"
#include "muster/error.h"
#include "tests/data/error_of.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::muster::testing::Gzip;
using ::muster::testing::IdxBytes;
using ::muster::testing::ImageBytes;
using ::muster::testing::LabelBytes;
using ::muster::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Idx : public ::testing::Test {
 protected:
  std::string ImagesError(const std::string& content, const std::string& name = "images") {
    const std::filesystem::path path = folder_.Write(name, content);
    const std::string text = ErrorOf([&] { ReadIdxImages(path); });
    EXPECT_THAT(text, HasSubstr(path.string()));
    return text;
  }
  std::string LabelsError(const std::string& content, int num_classes = 10, int64_t image_count = 3) {
    const std::filesystem::path path = folder_.Write("labels", content);
    const std::string text = ErrorOf([&] { ReadIdxLabels(path, num_classes, "some-images", image_count); });
    EXPECT_THAT(text, StartsWith(path.string()));
    return text;
  }

  TempFolder folder_;
};

TEST_F(Idx, ReadsImagesInRowMajorOrder) {
  const IdxImages images = ReadIdxImages(folder_.Write("images", ImageBytes(3, 2, 4)));
  EXPECT_EQ(images.count, 3);
  EXPECT_EQ(images.height, 2);
  EXPECT_EQ(images.width, 4);
  EXPECT_EQ(images.channels, 1);
  ASSERT_EQ(images.pixels.size(), 24u);
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(images.pixels[i], i);
}

TEST_F(Idx, ReadsColourImagesOfFourDimensions) {
  const IdxImages images = ReadIdxImages(folder_.Write("images", IdxBytes(0x08, {1, 1, 2, 3}, "abcdef")));
  EXPECT_EQ(images.channels, 3);
  EXPECT_THAT(images.pixels, ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
}

TEST_F(Idx, ReadsLabels) {
  const auto labels = ReadIdxLabels(folder_.Write("labels", LabelBytes({9, 0, 3})), 10, "some-images", 3);
  EXPECT_THAT(labels, ElementsAre(9, 0, 3));
}

TEST_F(Idx, GzipIsRecognisedByItsMagicNotByTheName) {
  EXPECT_EQ(ReadIdxImages(folder_.Write("plain_name", Gzip(ImageBytes(3, 2, 4)))).pixels.size(), 24u);
  EXPECT_EQ(ReadIdxImages(folder_.Write("plain_content.gz", ImageBytes(3, 2, 4))).pixels.size(), 24u);
}

TEST_F(Idx, GzipOfSeveralMembersReadsAsOneFile) {
  const std::string content = ImageBytes(3, 2, 4);
  const auto path = folder_.Write("images", Gzip(content.substr(0, 19)) + Gzip(content.substr(19)));
  EXPECT_EQ(ReadIdxImages(path).pixels.size(), 24u);
}

TEST_F(Idx, AMissingFileIsNamed) {
  EXPECT_EQ(ErrorOf([] { ReadIdxImages("nowhere/images"); }), "nowhere/images: no such file");
}

TEST_F(Idx, AFolderInPlaceOfAFileIsNamed) {
  EXPECT_THAT(ErrorOf([&] { ReadIdxImages(folder_.path()); }), HasSubstr("is a folder; a file was expected"));
}

TEST_F(Idx, AnEmptyFileSaysWhatWasExpected) {
  EXPECT_THAT(ImagesError(""),
              HasSubstr("byte 0: the file ends here, inside its IDX header; the magic number of 4 bytes was expected"));
}

TEST_F(Idx, ATruncatedHeaderNamesTheMissingField) {
  EXPECT_THAT(
      ImagesError(ImageBytes(3, 2, 4).substr(0, 10)),
      HasSubstr(
          "byte 10: the file ends here, inside its IDX header; the image height (4 bytes from byte 8) was expected"));
}

TEST_F(Idx, ATruncatedBodyNamesWhatTheHeaderAnnounces) {
  EXPECT_THAT(
      ImagesError(ImageBytes(3, 2, 4).substr(0, 30)),
      HasSubstr(
          "byte 30: the file ends here; its header announces 3 images of 2x4x1, that is 24 bytes from byte 16 on"));
}

TEST_F(Idx, ATruncatedBodyInsideAWholeGzipStreamIsFound) {
  EXPECT_THAT(ImagesError(Gzip(ImageBytes(3, 2, 4).substr(0, 30))), HasSubstr("byte 30: the file ends here"));
}

TEST_F(Idx, BytesBehindTheElementsAreRefused) {
  EXPECT_THAT(ImagesError(ImageBytes(3, 2, 4) + "x"), HasSubstr("byte 40: the file goes on"));
  EXPECT_THAT(ImagesError(Gzip(ImageBytes(3, 2, 4) + "x")), HasSubstr("byte 40: the file goes on"));
}

TEST_F(Idx, OtherContentIsNotAnIdxFile) {
  EXPECT_THAT(ImagesError("PNG...................."),
              HasSubstr("byte 0: not an IDX file: it begins with 0x504e, two zero bytes"));
}

TEST_F(Idx, OtherElementTypesAreNamed) {
  EXPECT_THAT(ImagesError(IdxBytes(0x0d, {1, 1, 1}, "abcd")),
              HasSubstr("byte 2: the element type is 0x0d (32-bit float), 0x08 (unsigned byte) was expected"));
}

TEST_F(Idx, LabelsInPlaceOfImagesAreRefused) {
  EXPECT_THAT(ImagesError(LabelBytes({1, 2, 3})),
              HasSubstr("byte 3: the file has 1 dimension, 3 (image count, height, width"));
  EXPECT_THAT(LabelsError(ImageBytes(3, 2, 4)),
              HasSubstr("byte 3: the file has 3 dimensions, 1 (label count) was expected"));
}

TEST_F(Idx, SizesOutsideTheLimitsAreRefusedBeforeAnythingIsAllocated) {
  EXPECT_THAT(ImagesError(IdxBytes(0x08, {0, 2, 4}, "")), HasSubstr("byte 4: the image count is 0, 1 to"));
  EXPECT_THAT(ImagesError(IdxBytes(0x08, {1, 0, 4}, "")), HasSubstr("byte 8: the image height is 0"));
  EXPECT_THAT(ImagesError(IdxBytes(0x08, {1, 2, 0xffffffff}, "")),
              HasSubstr("byte 12: the image width is 4294967295, 1 to 16384"));
  EXPECT_THAT(ImagesError(IdxBytes(0x08, {0xffffffff, 2, 2}, "")), HasSubstr("byte 4: the image count is 4294967295"));
  EXPECT_THAT(ImagesError(IdxBytes(0x08, {1, 2, 2, 5}, "")), HasSubstr("byte 16: the number of channels is 5, 1 to 4"));
}

TEST_F(Idx, AHugeAnnouncedSizeIsRefusedBeforeItIsAllocated) {
  const std::string header = IdxBytes(0x08, {0x7fffffff, 1, 32}, "");
  EXPECT_THAT(ImagesError(header), HasSubstr("byte 16: the file ends here; its header announces 2147483647 images"));
  EXPECT_THAT(ImagesError(Gzip(header)), HasSubstr("the gzip file is too small to hold more than"));
  EXPECT_THAT(ImagesError(IdxBytes(0x08, {0x7fffffff, 16384, 16384}, "")), HasSubstr("at most 68719476736 are read"));
}

TEST_F(Idx, CountsThatDifferNameBothFiles) {
  EXPECT_THAT(LabelsError(LabelBytes({1, 2}), 10, 3),
              HasSubstr("byte 4: the file announces 2 labels, 3 were expected, one for each image of some-images"));
}

TEST_F(Idx, ALabelOutOfRangeIsNamedWithItsOffset) {
  EXPECT_THAT(LabelsError(LabelBytes({9, 10, 3})), HasSubstr("byte 9: label 1 is 10, 0 to 9 was expected"));
}

TEST_F(Idx, AnInterruptEndsReading) {
  const InterruptScope scope;
  RequestInterrupt();
  const std::filesystem::path path = folder_.Write("images", ImageBytes(3, 2, 4));
  EXPECT_EQ(ErrorOf([&] { ReadIdxImages(path); }), "interrupted");
}

TEST_F(Idx, ACorruptGzipStreamNamesTheOffsetInTheFile) {
  std::string packed = Gzip(ImageBytes(20, 9, 9));
  packed[10] |= 0x06;  // the first block's type becomes the one that does not exist
  EXPECT_THAT(ImagesError(packed),
              HasSubstr("the gzip stream is corrupt at byte 11 of the file (byte 0 unpacked): invalid block type"));
}

TEST_F(Idx, AWrongChecksumOfTheGzipStreamIsFound) {
  std::string packed = Gzip(ImageBytes(3, 2, 4));
  packed[packed.size() - 8] ^= 1;
  EXPECT_THAT(ImagesError(packed), HasSubstr("the gzip stream is corrupt at byte"));
}

TEST_F(Idx, AFileCutAtAnyByteIsRefused) {
  for (const std::string& content : {ImageBytes(5, 3, 3), Gzip(ImageBytes(5, 3, 3))}) {
    for (size_t size = 0; size < content.size(); ++size) ImagesError(content.substr(0, size));
  }
}

TEST_F(Idx, AnyFlippedBitOfAGzipFileIsRefusedOrHarmless) {
  const std::string content = Gzip(ImageBytes(5, 3, 3));
  const IdxImages original = ReadIdxImages(folder_.Write("whole", content));
  for (size_t bit = 0; bit < content.size() * 8; ++bit) {
    std::string broken = content;
    broken[bit / 8] ^= static_cast<char>(1 << bit % 8);
    try {
      EXPECT_EQ(ReadIdxImages(folder_.Write("broken", broken)).pixels, original.pixels);  // a bit of the gzip header
    } catch (const Error&) {
    }
  }
}

TEST_F(Idx, AnyFlippedBitOfAPlainHeaderIsRefused) {
  const std::string content = ImageBytes(5, 3, 3);
  for (size_t bit = 0; bit < 16 * 8; ++bit) {
    std::string broken = content;
    broken[bit / 8] ^= static_cast<char>(1 << bit % 8);
    ImagesError(broken);
  }
}

}  // namespace
}  // namespace muster::data
