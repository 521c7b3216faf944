#include "data/imagenet/reading_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace muster::data {
namespace {

using ::testing::ElementsAre;

// As TensorFlow 2.21's parallel_interleave read such files.
TEST(InterleavedOrder, IsTensorFlows) {
  EXPECT_THAT(InterleavedOrder({3, 1, 2, 4}, 2), ElementsAre(0, 3, 1, 2, 4, 5, 6, 7, 8, 9));
  const int64_t a = 0, b = 3, c = 4, d = 6, e = 10, f = 11, g = 13;  // first records of files of 3, 1, 2, 4, 1, 2 and 5
  EXPECT_THAT(
      InterleavedOrder({3, 1, 2, 4, 1, 2, 5}, 3),
      ElementsAre(a, b, c, a + 1, c + 1, a + 2, d, d + 1, e, f, d + 2, f + 1, d + 3, g, g + 1, g + 2, g + 3, g + 4));
  EXPECT_THAT(InterleavedOrder({2, 2, 2}, 10), ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(InterleavedOrder, OneFileAtATimeIsTheOrderOfTheFiles) {
  EXPECT_THAT(InterleavedOrder({2, 3}, 1), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(InterleavedOrder({}, 10), ElementsAre());
}

// Images whose label is their number.
class Numbered : public ImageSource {
 public:
  explicit Numbered(std::vector<int64_t> file_sizes, int64_t size) : sizes_(std::move(file_sizes)), size_(size) {}
  int64_t size() const override { return size_; }
  EncodedImage Get(int64_t index) const override { return {.label = static_cast<int32_t>(index)}; }
  std::string Where(int64_t index) const override { return "image " + std::to_string(index); }
  std::vector<int64_t> record_file_sizes() const override { return sizes_; }

 private:
  std::vector<int64_t> sizes_;
  int64_t size_;
};

std::vector<int32_t> Labels(const ImageSource& images) {
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < images.size(); ++i) {
    labels.push_back(images.Get(i).label);
    EXPECT_EQ(images.Where(i), "image " + std::to_string(labels.back()));
  }
  return labels;
}

TEST(EvaluationOrder, InterleavesRecordFiles) {
  EXPECT_THAT(Labels(*InEvaluationOrder(std::make_unique<Numbered>(std::vector<int64_t>{3, 1, 2, 4}, 10), 2)),
              ElementsAre(0, 3, 1, 2, 4, 5, 6, 7, 8, 9));
}

// 10 classes of 20 images: the first 50 images show nearly all classes, and all images come once.
TEST(EvaluationOrder, MixesTheClassesOfFolders) {
  const auto images = InEvaluationOrder(std::make_unique<Numbered>(std::vector<int64_t>(), 200), 10);
  std::vector<int32_t> labels = Labels(*images);
  std::vector<int> seen(10);
  for (size_t i = 0; i < 50; ++i) seen[static_cast<size_t>(labels[i] / 20)] = 1;
  EXPECT_GE(std::accumulate(seen.begin(), seen.end(), 0), 8);
  EXPECT_EQ(labels, Labels(*InEvaluationOrder(std::make_unique<Numbered>(std::vector<int64_t>(), 200), 10)));
  std::ranges::sort(labels);
  for (int32_t i = 0; i < 200; ++i) EXPECT_EQ(labels[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace muster::data
