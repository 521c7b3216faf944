// Tensors packed into one and taken out again.

#include "train/strategy/packing.h"

#include <gtest/gtest.h>

#include "muster/ops.h"
#include "tests/train/towers_on_devices.h"
#include "train/strategy/all_reduce.h"
#include "train/strategy/exchange.h"

namespace muster::train {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

TEST(ExtractRanges, RunsOfNeighboursAndNumbersThatStandAlone) {
  const Ranges ranges = ExtractRanges({1, 3, 4, 6, 7, 8, 9}, 32);
  EXPECT_EQ(ranges.ranges, (Pairs{{3, 4}, {6, 9}}));
  EXPECT_EQ(ranges.singles, (std::vector<int>{1}));
  EXPECT_TRUE(ExtractRanges({}, 32).ranges.empty());
  EXPECT_TRUE(ExtractRanges({}, 32).singles.empty());
}

TEST(ExtractRanges, ARunHasOneMoreThanTheLimitAtMost) {
  const Ranges ranges = ExtractRanges({0, 1, 2, 3, 4, 5, 6}, 2);
  EXPECT_EQ(ranges.ranges, (Pairs{{0, 2}, {3, 5}}));
  EXPECT_EQ(ranges.singles, (std::vector<int>{6}));
}

class Packing : public ::testing::Test {
 protected:
  Parts Tensor(const Shape& shape, DType dtype = DType::kFloat32) {
    Parts parts;
    for (int t = 0; t < context_.num_towers(); ++t)
      parts.push_back(ops::Placeholder(context_.OnTower(t), dtype, shape));
    return parts;
  }
  std::vector<std::string> ShapesOf(const std::vector<Parts>& tensors) const {
    std::vector<std::string> shapes;
    for (const Parts& parts : tensors) shapes.push_back(graph_.shape(parts[1]).ToString());
    return shapes;
  }

  Graph graph_;
  ExchangeContext context_{Scope(&graph_), CpuDevices(2), 1, CpuDevices(2)};
};

TEST_F(Packing, ThresholdsAreInclusive) {
  const std::vector<Parts> tensors = {Tensor({4}), Tensor({2, 2})};
  EXPECT_EQ(SmallPacking(context_, tensors, 16, 10).Pack(context_, tensors).size(), 1u) << "four floats are 16 bytes";
  EXPECT_EQ(SmallPacking(context_, tensors, 12, 10).Pack(context_, tensors).size(), 2u);
}

TEST_F(Packing, PacksComeFirstAndEverythingFindsItsPlaceAgain) {
  const std::vector<Parts> tensors = {Tensor({100}), Tensor({2}), Tensor({3}), Tensor({200}), Tensor({4})};
  const SmallPacking packing(context_, tensors, 64, 10);
  const std::vector<Parts> packed = packing.Pack(context_, tensors);
  EXPECT_EQ(ShapesOf(packed), (std::vector<std::string>{"[5]", "[100]", "[200]", "[4]"})) << "a small one alone stays";
  EXPECT_EQ(ShapesOf(packing.Unpack(context_, packed)), ShapesOf(tensors));
}

TEST_F(Packing, OnlyFloat32IsPacked) {
  const std::vector<Parts> tensors = {Tensor({2}, DType::kFloat64), Tensor({2}, DType::kFloat64)};
  EXPECT_EQ(SmallPacking(context_, tensors, 64, 10).Pack(context_, tensors).size(), 2u);
}

TEST_F(Packing, TheLastPackTakesTheRemainder) {
  const Parts vector = Tensor({11});
  EXPECT_EQ(ShapesOf(CutIntoPacks(context_, vector, 3)), (std::vector<std::string>{"[3]", "[3]", "[5]"}));
  EXPECT_EQ(ShapesOf(CutIntoPacks(context_, vector, 1)), (std::vector<std::string>{"[11]"}));
  EXPECT_EQ(CutIntoPacks(context_, vector, 100).size(), 11u);
}

// Devices times the input, bit for bit, with small tensors packed and without.
TEST(RingWithPacking, EqualsTheRingWithout) {
  std::vector<std::vector<float>> results;
  for (int64_t max_bytes : {0, 64}) {
    Graph graph;
    const ExchangeContext context{Scope(&graph), CpuDevices(4), 1, CpuDevices(4)};
    ExchangeOptions options;
    options.all_reduce_spec = ParseAllReduceSpec("xring");
    options.agg_small_grads_max_bytes = max_bytes;
    std::vector<Parts> gradients(6);
    std::vector<Output> feeds, fetches;
    std::vector<Tensor> values;
    for (size_t i = 0; i < gradients.size(); ++i)
      for (int t = 0; t < 4; ++t) {
        const Shape shape{i == 3 ? 50 : static_cast<int64_t>(i) + 1};
        gradients[i].push_back(ops::Placeholder(context.OnTower(t), DType::kFloat32, shape));
        feeds.push_back(gradients[i].back());
        values.emplace_back(DType::kFloat32, shape);
        for (int64_t e = 0; e < shape[0]; ++e)
          values.back().data<float>()[static_cast<size_t>(e)] = 0.1f * static_cast<float>(e + 1);
      }
    for (const Parts& parts : ExchangeGradients(context, options, gradients).gradients)
      fetches.push_back(ops::Neg(context.OnTower(1), parts[1]));
    Session session(&graph, OnCpus(4));
    std::vector<float> all;
    for (const Tensor& tensor : session.Prepare(feeds, fetches)->Run(values))
      for (float value : Values(tensor)) all.push_back(value);
    results.push_back(all);
    for (size_t e = 0, i = 0; i < gradients.size(); ++i)
      for (int64_t k = 0; k < graph.shape(gradients[i][0])[0]; ++k, ++e)
        EXPECT_FLOAT_EQ(all[e], -4 * 0.1f * static_cast<float>(k + 1));
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace muster::train
