#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
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

using ::testing::HasSubstr;

std::unique_ptr<ImageSource> GoldenImages() { return OpenRecordImages({testing::GoldenDir() / "tfrecord/train-00000-of-00001"}, 1001); }

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
    const auto files = MakeImagenetDataset(GoldenImages(), 1001, options), cache = MakeImagenetDataset(Open(), 1001, options);
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
  EXPECT_EQ(images->Get(0).raw_size, (ImageSize{20, 27}));   // 48 x 64
  EXPECT_EQ(images->Get(11).raw_size, (ImageSize{1, 32}));   // small ones stay
  EXPECT_EQ(images->Get(2).boxes, GoldenImages()->Get(2).boxes);
}

TEST_F(ImageCacheTest, EveryCutIsFound) {
  MakeImageCache(*GoldenImages(), path(), {.shorter_side = 4});
  const std::string bytes = ReadFile(path());
  for (size_t size = 0; size < bytes.size(); size += 41) {
    folder_.Write("train.images", bytes.substr(0, size));
    EXPECT_THAT(ErrorOf([&] { Open(); }), HasSubstr("train.images: ")) << size;
  }
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
