#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_name.h"
#include "data/format/png.h"
#include "data/imagenet/image_cache.h"
#include "data/imagenet/imagenet_dataset.h"
#include "data/imagenet/kept_images.h"
#include "data/imagenet/make_cache.h"
#include "data/imagenet/open_images.h"
#include "data/imagenet/record_images.h"
#include "tests/data/error_of.h"
#include "tests/testing/golden.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::unique_ptr<ImageSource> GoldenImages() {
  return OpenRecordImages({testing::GoldenDir() / "tfrecord/train-00000-of-00001"}, 1001);
}

class ImageCacheTest : public ::testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "train.images").string(); }
  std::unique_ptr<ImageSource> Open() const { return OpenImages(folder_.path(), Subset::kTrain, 1001, "--data_dir"); }
  testing::TempFolder folder_;
};

std::vector<float> Get(const Dataset& dataset, int64_t index, int32_t* label) {
  std::vector<float> image(static_cast<size_t>(dataset.image_elements()));
  *label = dataset.Get(index, 2, image);
  return image;
}

TEST_F(ImageCacheTest, GivesTheBitsOfDecodingAgain) {
  EXPECT_EQ(MakeImageCache(*GoldenImages(), path(), {.threads = 3}).images, 12);
  for (const bool train : {false, true}) {
    const PreprocessOptions options{.size = 32, .train = train, .fuse_decode_and_crop = false};
    const auto files = MakeImagenetDataset(GoldenImages(), 1001, options),
               cache = MakeImagenetDataset(Open(), 1001, options);
    ASSERT_EQ(cache->size(), files->size());
    for (int64_t i = 0; i < files->size(); ++i) {
      int32_t label = 0, same = 0;
      EXPECT_EQ(Get(*cache, i, &label), Get(*files, i, &same)) << i;
      EXPECT_EQ(label, same);
    }
  }
}

TEST_F(ImageCacheTest, DoesNotDependOnThreads) {
  MakeImageCache(*GoldenImages(), path(), {.shorter_side = 20, .threads = 1});
  const std::string one = ReadFile(path());
  MakeImageCache(*GoldenImages(), path(), {.shorter_side = 20, .threads = 4});
  EXPECT_TRUE(ReadFile(path()) == one);
  const auto images = Open();
  EXPECT_EQ(images->Get(0).raw_size, (ImageSize{20, 27}));  // 48 x 64
  EXPECT_EQ(images->Get(11).raw_size, (ImageSize{1, 32}));  // small ones stay
  EXPECT_EQ(images->Get(2).boxes, GoldenImages()->Get(2).boxes);
}

// Images of these sizes, one a PNG file of its own.
std::string FlatPng(int height, int width) {
  return EncodePng(std::vector<uint8_t>(static_cast<size_t>(height) * static_cast<size_t>(width) * 3, 7), height, width,
                   3);
}

// 65534 / 70000 of 3 rows is 2.8, so 2 rows fit; of 1 row nothing is left.
TEST_F(ImageCacheTest, AnImageThatTheReaderWouldRefuseIsNotWritten) {
  std::filesystem::create_directories(folder_.path() / "train/n01");
  folder_.Write("train/n01/a.png", FlatPng(3, 65534));
  folder_.Write("train/n01/b.png", FlatPng(3, 70000));
  const auto images = Open();
  const auto error = [&](int shorter_side) {
    return ErrorOf([&] { MakeImageCache(*images, path(), {.shorter_side = shorter_side}); });
  };
  EXPECT_THAT(error(0), EndsWith("n01/b.png: the image is 3 x 70000; at most 65534 rows and columns fit into the file; "
                                 "--shorter_side=2 or less makes it fit"));
  EXPECT_FALSE(std::filesystem::exists(path()));
  MakeImageCache(*images, path(), {.shorter_side = 2});
  EXPECT_EQ(Open()->Get(1).raw_size, (ImageSize{2, 46667}));
  folder_.Write("train/n01/b.png", FlatPng(70000, 1));
  EXPECT_THAT(error(1), EndsWith("the image is 70000 x 1; at most 65534 rows and columns fit into the file"));
}

TEST_F(ImageCacheTest, TheLargestImageIsReadAgain) {
  std::filesystem::create_directories(folder_.path() / "train/n01");
  folder_.Write("train/n01/a.png", FlatPng(65534, 2));
  MakeImageCache(*Open(), path(), {});
  EXPECT_EQ(Open()->Get(0).raw_size, (ImageSize{65534, 2}));
}

// A process number that no process has: they end at 2^22.
TEST_F(ImageCacheTest, WhatAKilledRunLeftIsRemoved) {
  constexpr pid_t kNobody = 2000000000;
  const auto left = folder_.Write(TemporaryName("train.images", kNobody), "half a file"),
             other = folder_.Write(TemporaryName("validation.images", kNobody), "another's");
  MakeImageCache(*GoldenImages(), path(), {.shorter_side = 4});
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_EQ(Open()->size(), 12);
}

TEST_F(ImageCacheTest, EveryCutIsFound) {
  MakeImageCache(*GoldenImages(), path(), {.shorter_side = 4});
  const std::string bytes = ReadFile(path());
  for (size_t size = 0; size < bytes.size(); size += 41) {
    folder_.Write("train.images", bytes.substr(0, size));
    EXPECT_THAT(ErrorOf([&] { Open(); }), HasSubstr("train.images: ")) << size;
  }
}

// Mapped bytes that are gone would end the process without a word. Of the images, the index and its end each is cut
// away.
TEST_F(ImageCacheTest, AFileThatBecomesShorterWhileItIsReadIsNamed) {
  MakeImageCache(*GoldenImages(), path(), {});
  const auto size = std::filesystem::file_size(path());
  for (const uintmax_t left : {uintmax_t{0}, uintmax_t{100}, size - 12 * 32 - 32, size - 1}) {
    MakeImageCache(*GoldenImages(), path(), {});
    const auto images = Open(), kept = KeepImages(Open()), first = RepeatFirstImage(Open());
    const std::string bytes(images->Get(0).mapped);
    EXPECT_EQ(kept->Get(0).mapped, bytes);
    std::filesystem::resize_file(path(), left);
    for (const ImageSource* source : {images.get(), kept.get()})
      for (const int64_t i : {0, 11})
        EXPECT_EQ(ErrorOf([&] { source->Get(i); }),
                  path() + ": image " + std::to_string(i) + ": the file has become shorter since it was opened");
    EXPECT_EQ(first->Get(5).mapped, bytes);
  }
}

// As when a new cache is made while a run reads the old one.
TEST_F(ImageCacheTest, AFileThatIsReplacedIsReadOn) {
  MakeImageCache(*GoldenImages(), path(), {});
  const auto images = Open();
  const std::string bytes(images->Get(11).mapped);
  MakeImageCache(*GoldenImages(), path(), {.shorter_side = 4});
  EXPECT_EQ(images->Get(11).mapped, bytes);
}

TEST_F(ImageCacheTest, EveryFlippedBitOfWhatIsUsedIsFound) {
  MakeImageCache(*GoldenImages(), path(), {.shorter_side = 4});
  const std::string bytes = ReadFile(path());
  int found = 0, flips = 0;
  for (size_t at = 0; at < bytes.size(); at += 7, ++flips) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    folder_.Write("train.images", damaged);
    try {
      const auto images = Open();
      for (int64_t i = 0; i < images->size(); ++i) images->Get(i);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kDataLoss);
      ++found;
    }
  }
  EXPECT_GT(found, flips / 3);  // the rest is padding between images
}

TEST(KeptImages, GiveTheSameAndReadOnce) {
  class Counting : public ImageSource {
   public:
    explicit Counting(int* reads) : reads_(*reads) {}
    int64_t size() const override { return 3; }
    EncodedImage Get(int64_t index) const override {
      ++reads_;
      return {.bytes = std::to_string(index)};
    }
    std::string Where(int64_t index) const override { return std::to_string(index); }
    int& reads_;
  };
  int reads = 0;
  const auto kept = KeepImages(std::make_unique<Counting>(&reads));
  for (int round = 0; round < 3; ++round)
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(kept->Get(i).bytes, std::to_string(i));
  EXPECT_EQ(reads, 3);
  reads = 0;
  const auto first = RepeatFirstImage(std::make_unique<Counting>(&reads));
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(first->Get(i).bytes, "0");
  EXPECT_EQ(first->size(), 3);
  EXPECT_EQ(reads, 1);
}

}  // namespace
}  // namespace muster::data
