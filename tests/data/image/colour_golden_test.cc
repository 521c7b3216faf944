#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "data/augment.h"
#include "data/image/colour.h"
#include "tests/testing/golden.h"

namespace muster::data {
namespace {

using nlohmann::json;

// TensorFlow's rgb_to_yiq, which the golden values hold to its word: the measure of colours in YIQ.
void RgbToYiq(std::span<float> pixels) {
  constexpr double kRows[3][3] = {
      {0.299, 0.587, 0.114}, {0.59590059, -0.27455667, -0.32134392}, {0.2115, -0.52273617, 0.31119955}};
  for (size_t i = 0; i < pixels.size(); i += 3) {
    const double r = pixels[i], g = pixels[i + 1], b = pixels[i + 2];
    for (size_t c = 0; c < 3; ++c)
      pixels[i + c] = static_cast<float>(kRows[c][0] * r + kRows[c][1] * g + kRows[c][2] * b);
  }
}

void ApplyCase(const std::string& name, const json& attrs, std::span<float> rgb, const Shape& shape) {
  if (name == "brightness") return AdjustBrightness(rgb, attrs["delta"]);
  if (name == "contrast") return AdjustContrast(rgb, attrs["factor"]);
  if (name == "saturation") return AdjustSaturation(rgb, attrs["factor"]);
  if (name == "hue" || name == "hue_neg") return AdjustHue(rgb, attrs["delta"]);
  if (name == "flip_left_right") return FlipLeftRight(rgb, shape);
  if (name == "rgb_to_yiq") return RgbToYiq(rgb);
  FAIL() << "no operation for golden case " << name;
}

TEST(GoldenColour, EveryOperationEqualsTensorFlows) {
  const json index = testing::GoldenJson("ops/index.json");
  int cases = 0;
  for (const json& c : index["cases"]) {
    if (c["op"] != "colour" || c["case"] == "rgb_to_hsv") continue;  // colours are changed without going to HSV
    ++cases;
    const Tensor x = testing::GoldenTensor("ops/" + c["inputs"]["x"]["file"].get<std::string>());
    const Tensor y = testing::GoldenTensor("ops/" + c["outputs"]["y"]["file"].get<std::string>());
    ApplyCase(c["case"], c["attrs"], x.data<float>(), x.shape());
    for (size_t i = 0; i < y.data<float>().size(); ++i)
      ASSERT_NEAR(x.data<float>()[i], y.data<float>()[i], 2e-6) << c["case"] << " at " << i;
  }
  EXPECT_EQ(cases, 7);
}

// Brightness may leave values outside 0 to 1. Expected: tf.image.adjust_hue and adjust_saturation of TensorFlow 2.21.
TEST(Colour, HueAndSaturationOutsideZeroToOneAreTensorFlows) {
  const std::vector<float> pixels = {-0.5f, -0.2f, -0.3f, 1.3f, -0.2f, 0.4f, 0, 0, 0, -0.1f, 0, -0.3f};
  std::vector<float> turned = pixels, more = pixels, less = pixels;
  AdjustHue(turned, 0.2f);
  AdjustSaturation(more, 1.3f);
  AdjustSaturation(less, 0.6f);
  EXPECT_THAT(turned, ::testing::Pointwise(::testing::FloatNear(1e-6f), {-0.5f, -0.46f, -0.2f, 1.3f, 1.0f, -0.2f, 0.0f,
                                                                         0.0f, 0.0f, -0.3f, 0.0f, -0.14f}));
  EXPECT_THAT(more, ::testing::Pointwise(::testing::FloatNear(1e-6f),
                                         {-0.2f, -0.2f, -0.2f, 1.3f, 0.0f, 0.52f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}));
  EXPECT_THAT(less, ::testing::Pointwise(::testing::FloatNear(1e-6f),
                                         {-0.2f, -0.2f, -0.2f, 1.3f, 0.4f, 0.76f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}));
}

// In YIQ a turn by nothing and a factor of one change nothing; a factor of 0 leaves the brightness alone.
TEST(ColourInYiq, NeutralChangeIsNoneAndNoSaturationIsGrey) {
  std::vector<float> rgb = {0.2f, 0.9f, 0.4f, 1, 0, 0};
  const std::vector<float> before = rgb;
  AdjustHueAndSaturationInYiq(rgb, 0, 1);
  constexpr float kRounding = 1e-4f;  // of the matrices, which have eight digits and are each other's inverse to four
  for (size_t i = 0; i < rgb.size(); ++i) EXPECT_NEAR(rgb[i], before[i], kRounding);
  AdjustHueAndSaturationInYiq(rgb, 1, 0);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(rgb[i], 0.299f * 0.2f + 0.587f * 0.9f + 0.114f * 0.4f, kRounding);
    EXPECT_NEAR(rgb[3 + i], 0.299f, kRounding);
  }
}

// The plane of I and Q is turned and scaled; Y stays.
TEST(ColourInYiq, ColoursTurnInThePlaneOfTensorFlowsYiq) {
  const float turn = 0.7f, scale = 0.8f;
  std::vector<float> rgb = {0.2f, 0.9f, 0.4f, 1, 0, 0, 0.1f, 0.3f, 0.8f}, before = rgb;
  AdjustHueAndSaturationInYiq(rgb, turn, scale);
  RgbToYiq(rgb);
  RgbToYiq(before);
  for (size_t p = 0; p < rgb.size(); p += 3) {
    EXPECT_NEAR(rgb[p], before[p], 1e-5);
    EXPECT_NEAR(rgb[p + 1], scale * (std::cos(turn) * before[p + 1] - std::sin(turn) * before[p + 2]), 1e-5);
    EXPECT_NEAR(rgb[p + 2], scale * (std::sin(turn) * before[p + 1] + std::cos(turn) * before[p + 2]), 1e-5);
  }
}

// Two turns one after the other are one by the sum.
TEST(ColourInYiq, TurnsAddUp) {
  std::vector<float> once = {0.2f, 0.9f, 0.4f}, twice = once;
  AdjustHueAndSaturationInYiq(once, 0.5f, 1.2f);
  AdjustHueAndSaturationInYiq(twice, 0.2f, 1.2f);
  AdjustHueAndSaturationInYiq(twice, 0.3f, 1);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(once[i], twice[i], 1e-6);
}

}  // namespace
}  // namespace muster::data
