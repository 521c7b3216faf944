// The list of convolutions behind the limit, against TensorFlow's counts for the same models.
#include "benchmarks/roofline/resnet.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "benchmarks/roofline/report.h"
#include "tests/testing/golden.h"

namespace muster::roofline {
namespace {

class ResNetShapes : public ::testing::TestWithParam<bool> {};

TEST_P(ResNetShapes, AddUpToTheParametersAndMultiplyAddsOfTheModel) {
  const Network network = ResNet50(GetParam());
  int64_t macs = 0, count = 0;
  for (const Convolution& c : network.convolutions) {
    macs += c.count * c.out_elements() * c.in_channels * c.kernel * c.kernel;
    count += c.count;
  }
  const nlohmann::json golden = muster::testing::GoldenJson("models.json");
  for (const auto& model : golden["models"]) {
    if (model["model"] != network.name) continue;
    EXPECT_EQ(network.parameters, model["trainable_parameters"].get<int64_t>());
    EXPECT_EQ(macs, model["forward_macs_per_image"]["Conv2D"].get<int64_t>());
    EXPECT_EQ(count, model["layer_counts"]["conv"].get<int64_t>());
    return;
  }
  FAIL() << "no model " << network.name << " in models.json";
}
INSTANTIATE_TEST_SUITE_P(Versions, ResNetShapes, ::testing::Bool());

TEST(Limit, CountsEachByteOfTheRestOnce) {
  Network network;
  network.normalized_elements = 100;
  network.added_elements = 10;
  EXPECT_EQ(NormalizationBytes(network, Precision::kFloat32), 4 * (8 * 100 + 5 * 10));
  EXPECT_EQ(NormalizationBytes(network, Precision::kBFloat16), 2 * (8 * 100 + 5 * 10));
  network.pool_in_elements = 40;
  network.pool_out_elements = 10;
  EXPECT_EQ(PoolingBytes(network, Precision::kFloat32), 2 * (4 * 50 + 10));
  EXPECT_EQ(PoolingBytes(network, Precision::kBFloat16), 2 * (2 * 50 + 10));
}

TEST(Limit, LeavesOutTheGradientOfTheImages) {
  Network network;
  network.convolutions = {{3, 8, 16, 3, 1}, {16, 8, 16, 3, 1, 2}};
  PassTimes times;
  for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights}) {
    times[{{3, 8, 16, 3, 1}, pass}].seconds = 100;
    times[{{16, 8, 16, 3, 1}, pass}].seconds = 1;
  }
  const Limit limit = ComputeLimit(network, Precision::kFloat32, times, /*dense=*/4, /*bandwidth=*/1e9, /*batch=*/2);
  EXPECT_EQ(limit.forward, (100 + 2 * 1) / 2.0);
  EXPECT_EQ(limit.backward_data, 2 * 1 / 2.0);
  EXPECT_EQ(limit.dense, 2);
}

}  // namespace
}  // namespace muster::roofline
