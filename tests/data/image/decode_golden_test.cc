// What TensorFlow's decoder makes of the records in golden/tfrecord.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/image/decode.h"
#include "data/imagenet/record_images.h"
#include "tests/testing/golden.h"
#include "tests/testing/sha256.h"

namespace muster::data {
namespace {

using nlohmann::json;

class GoldenDecode : public ::testing::TestWithParam<int> {
 protected:
  static const ImageSource& Records() {
    static const auto records = OpenRecordImages({testing::GoldenDir() / "tfrecord/train-00000-of-00001"}, 1001);
    return *records;
  }
  static const json& Contents() {
    static const json contents = testing::GoldenJson("tfrecord/contents.json");
    return contents;
  }
  const json& listed() const { return Contents()["records"][static_cast<size_t>(GetParam())]; }
  std::string bytes() const { return Records().Get(GetParam()).bytes; }
};

std::string_view BytesOf(const RgbImage& image) {
  return {reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()};
}

TEST_P(GoldenDecode, EqualsTensorFlowsForEachMethod) {
  for (const DctMethod method : {DctMethod::kIntegerAccurate, DctMethod::kIntegerFast}) {
    for (const bool fancy : {false, true}) {
      std::string variant = method == DctMethod::kIntegerAccurate ? "INTEGER_ACCURATE" : "INTEGER_FAST";
      if (fancy) variant += "_fancy";
      const json& expected = listed()["decode"][variant];
      RgbImage image;
      EXPECT_EQ(DecodeImage(bytes(), {method, fancy}, {}, &image), "");
      EXPECT_EQ(image.height, expected["shape"][0]) << variant;
      EXPECT_EQ(image.width, expected["shape"][1]) << variant;
      EXPECT_EQ(testing::Sha256(BytesOf(image)), expected["sha256"]) << listed()["kind"] << " " << variant;
    }
  }
}

TEST_P(GoldenDecode, CropEqualsTensorFlowsDecodeAndCrop) {
  const json expected = listed().value("decode_and_crop", json());
  if (!expected.is_object()) GTEST_SKIP() << "TensorFlow has no crop of it";
  const json& w = expected["window_y_x_h_w"];
  RgbImage image;
  DecodeImage(bytes(), {}, CropWindow{w[0], w[1], w[2], w[3]}, &image);
  EXPECT_EQ(testing::Sha256(BytesOf(image)), expected["sha256"]) << listed()["kind"];
}

TEST_P(GoldenDecode, ReadsLabelBoxesAndSize) {
  const EncodedImage image = Records().Get(GetParam());
  EXPECT_EQ(image.label, listed()["label"]);
  EXPECT_EQ(image.bytes.size(), listed()["encoded_bytes"]);
  const ImageSize size = ReadImageSize(image.bytes);
  EXPECT_EQ(size.height, listed()["file_height"]);
  EXPECT_EQ(size.width, listed()["file_width"]);
  const json& boxes = listed()["bbox_ymin_xmin_ymax_xmax"];
  ASSERT_EQ(image.boxes.size(), boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i)
    EXPECT_EQ(image.boxes[i], (Box{boxes[i][0], boxes[i][1], boxes[i][2], boxes[i][3]}));
}

INSTANTIATE_TEST_SUITE_P(Records, GoldenDecode, ::testing::Range(0, 12));

}  // namespace
}  // namespace muster::data
