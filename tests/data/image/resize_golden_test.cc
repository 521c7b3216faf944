#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/image/resize.h"
#include "tests/data/resize_method_of.h"
#include "tests/testing/golden.h"

namespace muster::data {
namespace {

using nlohmann::json;

// What Resize does, on floats of any number of channels (height x width x channels) and the whole image.
std::vector<float> ResizeFloats(std::span<const float> image, const ImageSize& size, int channels,
                                const ResizeOptions& options, const ImageSize& to) {
  const AxisTaps rows = MakeTaps(options, size.height, to.height, 0, to.height);
  const AxisTaps columns = MakeTaps(options, size.width, to.width, 0, to.width);
  std::vector<float> out;
  out.reserve(static_cast<size_t>(to.height) * static_cast<size_t>(to.width) * static_cast<size_t>(channels));
  for (const AxisTaps::Pixel& row : rows.pixels) {
    for (const AxisTaps::Pixel& column : columns.pixels) {
      for (int c = 0; c < channels; ++c) {
        double sum = 0;
        for (int i = 0; i < row.count; ++i)
          for (int j = 0; j < column.count; ++j)
            sum += double{rows.weights[row.weights + static_cast<size_t>(i)]} *
                   columns.weights[column.weights + static_cast<size_t>(j)] *
                   image[static_cast<size_t>(((row.first + i) * size.width + column.first + j) * channels + c)];
        out.push_back(static_cast<float>(sum));
      }
    }
  }
  return out;
}

float MaxDifference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  float most = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(GoldenResize, EveryMethodAndRuleEqualsTensorFlows) {
  const json index = testing::GoldenJson("ops/index.json");
  int cases = 0;
  for (const json& c : index["cases"]) {
    if (c["op"] != "resize") continue;
    ++cases;
    const json& attrs = c["attrs"];
    const Tensor x = testing::GoldenTensor("ops/" + c["inputs"]["x"]["file"].get<std::string>());
    const Tensor y = testing::GoldenTensor("ops/" + c["outputs"]["y"]["file"].get<std::string>());
    const ResizeOptions options{MethodOf(attrs["method"]), attrs.value("align_corners", false),
                                attrs.value("half_pixel_centers", false)};
    const ImageSize from{static_cast<int>(x.shape()[1]), static_cast<int>(x.shape()[2])},
        to{attrs["out"][0], attrs["out"][1]};
    const std::vector<float> resized = ResizeFloats(x.data<float>(), from, 3, options, to);
    const float tolerance = options.method == ResizeMethod::kNearest ? 0 : 1e-6f;
    float largest = 1;
    for (const float value : y.data<float>()) largest = std::max(largest, std::abs(value));
    EXPECT_LE(MaxDifference(resized, y.data<float>()), tolerance * largest) << c["case"];
  }
  EXPECT_GE(cases, 40);
}

}  // namespace
}  // namespace muster::data
