#include "bench/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/eval_input.h"
#include "tests/testing/golden.h"

namespace muster::bench {
namespace {

using ::testing::HasSubstr;

BenchParams ParamsFor(const std::string& folder, const std::string& name) {
  BenchParams params{.model = name == "cifar10" ? "resnet20" : "lenet", .batch_size = 2, .device = "cpu"};
  params.data_dir = (testing::GoldenDir() / folder).string();
  params.data_name = name;
  return params;
}

std::vector<float> ImageOf(const data::Dataset& dataset, int64_t index) {
  std::vector<float> image(static_cast<size_t>(dataset.image_elements()));
  dataset.Get(index, 0, image);
  return image;
}

// normalized_image of the peer's preprocessing.py: pixels over 127.5, less 1.
TEST(Input, Cifar10IsScaledToMinusOneToOne) {
  const Tensor pixels = testing::GoldenTensor("cifar10/images_nhwc.npy");
  const auto* bytes = static_cast<const uint8_t*>(pixels.raw());
  const BenchParams params = ParamsFor("cifar10/cifar-10-batches-py", "cifar10");
  const auto dataset = OpenInput(params, Derive(params), data::Subset::kTrain);
  std::vector<float> expected(32 * 32 * 3);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(bytes[i]) / 127.5f - 1;
  int found = 0;
  for (int64_t n = 0; n < 3; ++n) {
    const std::vector<float> image = ImageOf(*dataset, n);
    found += std::ranges::equal(image, expected, [](float a, float b) { return std::abs(a - b) < 1e-6f; }) ? 1 : 0;
  }
  EXPECT_EQ(found, 1);
}

// The peer pads before it scales: what comes in at the edges is black.
TEST(Input, DistortedCifar10HasBlackEdges) {
  BenchParams params = ParamsFor("cifar10/cifar-10-batches-py", "cifar10");
  params.distortions = true;
  const auto dataset = OpenInput(params, Derive(params), data::Subset::kTrain);
  float least = 1;
  for (int64_t n = 0; n < dataset->size(); ++n) {
    const std::vector<float> image = ImageOf(*dataset, n);
    for (const float value : image) EXPECT_TRUE(value >= -1 - 1e-6f && value <= 1 + 1e-6f);
    least = std::min(least, *std::ranges::min_element(image));
  }
  EXPECT_NEAR(least, -1, 1e-6);
}

// The model garden's preprocess_image takes the same part of the image, boxes respected, and only scales otherwise;
// --ml_perf alone ignores boxes.
TEST(Input, TheModelGardenRespectsBoxesAndSubtractsMeans) {
  const float means[] = {123.68f, 116.78f, 103.94f};
  BenchParams params = ParamsFor("tfrecord", "imagenet");
  const Derived derived = Derive(params);
  const auto ours = OpenInput(params, derived, data::Subset::kTrain);
  params.input_preprocessor = "official_models_imagenet";
  const auto garden = OpenInput(params, derived, data::Subset::kTrain);
  params.input_preprocessor = "default";
  params.ml_perf = true;
  const auto ml_perf = OpenInput(params, derived, data::Subset::kTrain);
  int differ = 0;
  for (int64_t n = 0; n < ours->size(); ++n) {
    const std::vector<float> expected = ImageOf(*ours, n), image = ImageOf(*garden, n),
                             without_boxes = ImageOf(*ml_perf, n);
    for (size_t i = 0; i < image.size(); ++i)
      ASSERT_NEAR(image[i], (expected[i] + 1) * 127.5f - means[i % 3], 1e-3) << "image " << n;
    differ += image != without_boxes ? 1 : 0;
  }
  EXPECT_GT(differ, 0);
}

// 3 validation images.
class Evaluation : public ::testing::Test {
 protected:
  Evaluation() : params_(ParamsFor("cifar10/cifar-10-batches-bin", "cifar10")) { params_.eval = true; }
  std::string NoteFor(int64_t batch, int64_t batches) {
    params_.batch_size = batch;
    params_.num_batches = batches;
    const Derived derived = Derive(params_);
    return EvalInput(params_, derived).CoverageNote();
  }
  BenchParams params_;
};

TEST_F(Evaluation, ANoteSaysIfNotEachImageIsTakenOnce) {
  EXPECT_EQ(NoteFor(3, 1), "");
  EXPECT_EQ(NoteFor(1, 3), "");
  EXPECT_EQ(NoteFor(1, 2), "an evaluation takes the first 2 of 3 validation images; --num_eval_batches=3 takes all");
  EXPECT_THAT(NoteFor(2, 2), HasSubstr("takes 4 images, but there are 3"));
}

TEST_F(Evaluation, EachBeginsWithTheFirstImageAndTowersHavePartsOfTheBatch) {
  params_.batch_size = 1;
  params_.num_gpus = 2;
  params_.num_batches = 3;
  const Derived derived = Derive(params_);
  EvalInput input(params_, derived);
  const auto images = [&](int64_t batch) {
    std::vector<std::vector<float>> all;
    const std::vector<Tensor> feeds = input.At(batch);
    EXPECT_EQ(feeds.size(), 4u);
    for (size_t i = 0; i < feeds.size(); i += 2)
      all.emplace_back(feeds[i].data<float>().begin(), feeds[i].data<float>().end());
    return all;
  };
  std::vector<std::vector<float>> expected;
  for (int64_t n = 0; n < 3; ++n) expected.push_back(ImageOf(input.dataset(), n));
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    EXPECT_EQ(images(0), (std::vector{expected[0], expected[1]}));
    EXPECT_EQ(images(1), (std::vector{expected[2], expected[0]}));
    if (evaluation == 0) {
      EXPECT_EQ(images(2), (std::vector{expected[1], expected[2]}));
    }
  }
  EXPECT_GE(input.wait_seconds(), 0);
}

}  // namespace
}  // namespace muster::bench
