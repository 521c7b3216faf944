// Evaluation preprocessing from the stored file on, against what the peers' own code made of golden/tfrecord's images
// on TensorFlow 2.21: preprocessing.py of tf_cnn_benchmarks, and the model garden's rule for its ResNets.
#include <gtest/gtest.h>

#include <array>

#include "data/imagenet/imagenet_dataset.h"
#include "data/imagenet/record_images.h"
#include "tests/testing/golden.h"

namespace muster::data {
namespace {

constexpr int kSize = 28;

// The mean of all values, and those at (y, x, channel) = (0, 0, 0), (9, 20, 1) and (27, 27, 2).
using Expected = std::array<double, 4>;
struct Row {
  Expected benchmarks, garden;
};
constexpr Row kRows[] = {
    {{-0.0384196, -0.686275, -0.318767, 0.670962}, {10.6926, -10.9718, 5.59299, 30.8769}},
    {{-0.72723, -0.994771, -0.987302, -0.522502}, {-65.001, 128.828, -112.788, -40.8102}},
    {{-0.0874747, 0.716895, 0.342157, 0.121776}, {67.276, -104.134, 51.8287, 150.556}},
    {{0.0855482, -0.879303, 0.446019, 0.292565}, {28.9793, 76.2437, 127.372, -85.2024}},
    {{-0.0415532, -0.883824, -0.324265, 0.801961}, {10.2762, -18.3216, 3.44803, 37.1559}},
    {{-0.132482, -0.762567, 0.309626, -0.817469}, {82.6799, 78.8162, 78.9899, 100.216}},
    {{-0.744061, -0.998529, -0.993382, -0.543137}, {-63.5275, 127.051, -53.4118, -43.171}},
    {{-0.0722916, 0.749878, -0.823836, 1}, {24.3509, 94.7751, -52.7935, 151.06}},
    {{0.167664, 0.117647, 0.637255, -0.525}, {23.6603, 66.0973, 123.544, -97.1461}},
    {{-0.0263211, -0.191667, -0.324265, 0.271691}, {13.2176, -0.251289, 6.71561, 28.1074}},
    {{-0.743908, -0.992157, -0.992157, -0.545098}, {-61.9554, 130.32, -102.28, -45.94}},
    {{-0.334978, -0.0429765, -0.962131, -0.00908655}, {-29.5233, 2.71844, -111.803, 20.3647}},
};

void ExpectAre(const Expected& expected, const std::vector<float>& image, double tolerance) {
  const auto at = [&](int y, int x, int channel) { return image[static_cast<size_t>((y * kSize + x) * 3 + channel)]; };
  double sum = 0;
  for (const float value : image) sum += value;
  EXPECT_NEAR(sum / static_cast<double>(image.size()), expected[0], tolerance);
  EXPECT_NEAR(at(0, 0, 0), expected[1], tolerance);
  EXPECT_NEAR(at(9, 20, 1), expected[2], tolerance);
  EXPECT_NEAR(at(27, 27, 2), expected[3], tolerance);
}

std::vector<float> Evaluated(int64_t index, PreprocessOptions options) {
  options.size = kSize;
  const auto dataset = MakeImagenetDataset(
      OpenRecordImages({testing::GoldenDir() / "tfrecord/train-00000-of-00001"}, 1001), 1001, options);
  std::vector<float> image(kSize * kSize * 3);
  dataset->Get(index, 0, image);
  return image;
}

TEST(PeerEvaluation, ImagesBecomeTfCnnBenchmarksInput) {
  for (int64_t i = 0; i < std::ssize(kRows); ++i) {
    SCOPED_TRACE(i);
    ExpectAre(kRows[i].benchmarks, Evaluated(i, {}), 2e-5);
  }
}

TEST(PeerEvaluation, ImagesBecomeTheModelGardensInput) {
  for (int64_t i = 0; i < std::ssize(kRows); ++i) {
    SCOPED_TRACE(i);
    ExpectAre(kRows[i].garden, Evaluated(i, {.subtract_means = true, .official_models = true}), 2e-3);
  }
}

}  // namespace
}  // namespace muster::data
