#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/format/png.h"
#include "data/image/random_numbers.h"
#include "data/imagenet/imagenet_dataset.h"
#include "data/imagenet/preprocess.h"
#include "data/imagenet/record_images.h"
#include "tests/data/error_of.h"
#include "tests/data/resize_method_of.h"
#include "tests/testing/golden.h"

namespace muster::data {
namespace {

using nlohmann::json;

RgbImage ImageOf(const Tensor& pixels) {
  RgbImage image;
  image.Resize(static_cast<int>(pixels.shape()[0]), static_cast<int>(pixels.shape()[1]));
  std::copy_n(static_cast<const uint8_t*>(pixels.raw()), image.pixels.size(), image.pixels.begin());
  return image;
}

TEST(GoldenEvaluation, EqualsTensorFlowsForEveryMethodAndShape) {
  const json index = testing::GoldenJson("ops/index.json");
  int cases = 0;
  for (const json& c : index["cases"]) {
    if (c["op"] != "eval_preprocess") continue;
    ++cases;
    const RgbImage image = ImageOf(testing::GoldenTensor("ops/" + c["inputs"]["x"]["file"].get<std::string>()));
    const Tensor y = testing::GoldenTensor("ops/" + c["outputs"]["y_0_255"]["file"].get<std::string>());
    std::vector<float> out(y.data<float>().size());
    EvaluationCrop(image, MethodOf(c["attrs"]["method"]), {c["attrs"]["out"][0], c["attrs"]["out"][1]}, out);
    for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], y.data<float>()[i], 1e-3) << c["case"] << " at " << i;
  }
  EXPECT_EQ(cases, 20);
}

// The same through a file: what was stored as PNG comes out as TensorFlow's normalised values.
TEST(GoldenEvaluation, EqualsTensorFlowsFromTheFileOn) {
  const json index = testing::GoldenJson("ops/index.json");
  int cases = 0;
  for (const json& c : index["cases"]) {
    if (c["op"] != "eval_preprocess" || c["attrs"]["out"][0] != c["attrs"]["out"][1]) continue;
    ++cases;
    const RgbImage image = ImageOf(testing::GoldenTensor("ops/" + c["inputs"]["x"]["file"].get<std::string>()));
    const Tensor y = testing::GoldenTensor("ops/" + c["outputs"]["y_normalised"]["file"].get<std::string>());
    const Preprocessor preprocess({.size = c["attrs"]["out"][0], .resize_method = MethodOf(c["attrs"]["method"])});
    std::vector<float> out(y.data<float>().size());
    preprocess({.bytes = EncodePng(image.pixels, image.height, image.width, 3)}, 0, 0, out);
    for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], y.data<float>()[i], 1e-5) << c["case"] << " at " << i;
  }
  EXPECT_GE(cases, 12);
}

EncodedImage Flat(uint8_t level, int height, int width) {
  const std::vector<uint8_t> pixels(static_cast<size_t>(height * width * 3), level);
  return {.bytes = EncodePng(pixels, height, width, 3)};
}

TEST(Evaluation, AFlatImageStaysFlatWhateverItsShape) {
  for (const auto& [height, width, size] :
       {std::tuple{10, 10, 4}, {4, 4, 10}, {1, 100, 30}, {100, 1, 8}, {1, 1, 5}, {300, 200, 224}}) {
    for (const bool official : {false, true}) {
      const Preprocessor preprocess({.size = size, .official_models = official});
      std::vector<float> out(static_cast<size_t>(size * size * 3));
      preprocess(Flat(128, height, width), 0, 0, out);
      for (const float value : out) ASSERT_NEAR(value, 128 / 127.5 - 1, 1e-5) << height << "x" << width;
    }
  }
}

// The bounds of tf_cnn_benchmarks' own test.
TEST(Training, WhiteStaysLightAndBlackStaysDarkForEveryChoice) {
  for (const std::optional<ResizeMethod> method :
       {std::optional<ResizeMethod>(), {ResizeMethod::kArea}, {ResizeMethod::kBicubic}}) {
    for (const bool distortions : {false, true}) {
      for (const bool in_yiq : {false, true}) {
        for (const bool fuse : {false, true}) {
          const Preprocessor preprocess({.size = 40,
                                         .train = true,
                                         .distortions = distortions,
                                         .distort_color_in_yiq = in_yiq,
                                         .fuse_decode_and_crop = fuse,
                                         .resize_method = method});
          std::vector<float> out(40 * 40 * 3);
          for (int64_t i = 0; i < 8; ++i) {
            preprocess(Flat(255, 70, 60), i, 3, out);
            for (const float value : out) ASSERT_NEAR(value, 1, 50 / 127.5);
            preprocess(Flat(0, 70, 60), i, 3, out);
            for (const float value : out) ASSERT_NEAR(value, -1, 50 / 127.5);
          }
        }
      }
    }
  }
}

std::unique_ptr<Dataset> GoldenDataset(const PreprocessOptions& options) {
  return MakeImagenetDataset(OpenRecordImages({testing::GoldenDir() / "tfrecord/train-00000-of-00001"}, 1001), 1001,
                             options);
}

std::vector<float> Get(const Dataset& dataset, int64_t index, uint64_t epoch) {
  std::vector<float> image(static_cast<size_t>(dataset.image_elements()));
  dataset.Get(index, epoch, image);
  return image;
}

TEST(Training, DrawsAnewInEachEpochAndTheSameAgain) {
  const auto dataset = GoldenDataset({.size = 28, .train = true, .distortions = true, .seed = 3});
  for (int64_t i = 0; i < dataset->size(); ++i) EXPECT_EQ(Get(*dataset, i, 5), Get(*dataset, i, 5));
  EXPECT_NE(Get(*dataset, 0, 5), Get(*dataset, 0, 6));
  const auto other = GoldenDataset({.size = 28, .train = true, .distortions = true, .seed = 4});
  EXPECT_NE(Get(*dataset, 0, 5), Get(*other, 0, 5));
}

// Decoding only the part that is used gives the pixels of cutting it out afterwards, but for colours at its edges.
TEST(Training, FusedDecodingSeesTheSamePart) {
  const auto fused = GoldenDataset({.size = 28, .train = true}),
             whole = GoldenDataset({.size = 28, .train = true, .fuse_decode_and_crop = false});
  for (int64_t i = 0; i < fused->size(); ++i) {
    const std::vector<float> a = Get(*fused, i, 1), b = Get(*whole, i, 1);
    double sum = 0;
    for (size_t k = 0; k < a.size(); ++k) sum += std::abs(a[k] - b[k]) * 127.5;
    EXPECT_LT(sum / static_cast<double>(a.size()), 1) << i;
  }
}

// "round_robin" goes by the place in the batch, as in tf_cnn_benchmarks.
TEST(Evaluation, TheFourMethodsTakeTurnsAnewInEachBatch) {
  const Preprocessor preprocess({.size = 20, .resize_method = std::nullopt, .batch_size = 6});
  const EncodedImage image = OpenRecordImages({testing::GoldenDir() / "tfrecord/train-00000-of-00001"}, 1001)->Get(0);
  const auto at = [&](int64_t index) {
    std::vector<float> out(20 * 20 * 3);
    preprocess(image, index, 0, out);
    return out;
  };
  EXPECT_EQ(at(6), at(0));
  EXPECT_EQ(at(5), at(1));
  EXPECT_NE(at(4), at(6 + 1));
  EXPECT_NE(at(2), at(3));
}

TEST(Training, SubtractsTheMeansOfMlPerf) {
  const Preprocessor preprocess({.size = 4, .subtract_means = true});
  std::vector<float> out(4 * 4 * 3);
  preprocess(Flat(200, 9, 9), 0, 0, out);
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_NEAR(out[i], 200 - (i % 3 == 0 ? 123.68 : i % 3 == 1 ? 116.78 : 103.94), 1e-3);
}

TEST(DistortColour, TheOrdersDiffer) {
  std::vector<float> first(300), second;
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<float>(i % 251);
  second = first;
  const Philox stream(1, 2);
  RandomNumbers random(stream, 0, 0), same(stream, 0, 0);
  DistortColour(first, true, 0, &random);
  DistortColour(second, true, 1, &same);
  EXPECT_NE(first, second);
  for (const float value : first) EXPECT_TRUE(value >= 0 && value <= 255);
}

TEST(Imagenet, ABrokenImageNamesItsRecord) {
  class Broken : public ImageSource {
   public:
    int64_t size() const override { return 1; }
    EncodedImage Get(int64_t) const override { return {.bytes = "\xff\xd8\xff not much"}; }
    std::string Where(int64_t) const override { return "file: record 0 at byte 0"; }
  };
  const auto dataset = MakeImagenetDataset(std::make_unique<Broken>(), 1001, {.size = 28});
  EXPECT_THAT(ErrorOf([&] { Get(*dataset, 0, 0); }),
              ::testing::StartsWith("file: record 0 at byte 0: not a whole JPEG image: "));
}

}  // namespace
}  // namespace muster::data
