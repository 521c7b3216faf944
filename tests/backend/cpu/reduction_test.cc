#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

struct Case {
  Shape x;
  std::vector<int> axes;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.x.ToString() << " over " << c.axes.size(); }

Shape OutShape(const Case& c) {
  Shape out = c.x;
  for (auto axis = c.axes.rbegin(); axis != c.axes.rend(); ++axis) out = out.Erased(*axis);
  return out;
}

// Where element i of x goes.
int64_t Target(const Case& c, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int axis = c.x.rank() - 1; axis >= 0; --axis) {
    const int64_t index = i % c.x[axis];
    i /= c.x[axis];
    if (std::ranges::find(c.axes, axis) != c.axes.end()) continue;
    at += index * stride;
    stride *= c.x[axis];
  }
  return at;
}

class Reductions : public testing::TestWithParam<Case> {};

struct PlainLoops {
  std::vector<double> sum, max, min;

  PlainLoops(const Case& c, const Tensor& x)
      : sum(static_cast<size_t>(OutShape(c).num_elements())), max(sum.size(), -1e30), min(sum.size(), 1e30) {
    for (int64_t i = 0; i < c.x.num_elements(); ++i) {
      const size_t to = static_cast<size_t>(Target(c, i));
      const double v = static_cast<double>(x.data<float>()[i]);
      sum[to] += v, max[to] = std::max(max[to], v), min[to] = std::min(min[to], v);
    }
  }
};

TEST_P(Reductions, AgreeWithPlainLoops) {
  const Case& c = GetParam();
  const Tensor x = Random(c.x, 1, -1, 2);
  const Shape out = OutShape(c);
  const size_t n = static_cast<size_t>(out.num_elements());
  const auto [sum, max, min] = PlainLoops(c, x);
  const double count = static_cast<double>(c.x.num_elements()) / static_cast<double>(n);
  const auto check = [&](OpKind kind, const std::vector<double>& expected, double scale) {
    Tensor tensor(DType::kFloat32, out);
    for (size_t i = 0; i < n; ++i) tensor.data<float>()[i] = static_cast<float>(expected[i] * scale);
    const ReduceAttrs attrs{c.axes, false};
    const auto two = RunKernel(kind, attrs, {x}, {F32(out)}),
               one = RunKernel(kind, attrs, {x}, {F32(out)}, {.threads = 1});
    ExpectNear(two[0], tensor, 1e-5);
    ExpectEqualBits(two[0], one[0]);
  };
  check(OpKind::kSum, sum, 1);
  check(OpKind::kMean, sum, 1 / count);
  check(OpKind::kMax, max, 1);
  check(OpKind::kMin, min, 1);
}

// Only the result is ever rounded: where it is float32 it has a float32 result's digits, where it is bfloat16 that
// number's nearest.
TEST_P(Reductions, OfBFloat16AddInFloat32) {
  const Case& c = GetParam();
  const Tensor x = AsBFloat16(Random(c.x, 1, -1, 2));
  const Shape out = OutShape(c);
  Tensor expected(DType::kFloat32, out);
  std::ranges::transform(PlainLoops(c, AsFloat32(x)).sum, expected.data<float>().begin(),
                         [](double v) { return static_cast<float>(v); });
  const ReduceAttrs attrs{c.axes, false};
  const auto two = RunKernel(OpKind::kSum, attrs, {x}, {F32(out)}),
             one = RunKernel(OpKind::kSum, attrs, {x}, {F32(out)}, {.threads = 1});
  ExpectNear(two[0], expected, 1e-5);
  ExpectEqualBits(two[0], one[0]);
  ExpectEqualBits(RunKernel(OpKind::kSum, attrs, {x}, {{DType::kBFloat16, out, {}}})[0], AsBFloat16(two[0]));
}

INSTANTIATE_TEST_SUITE_P(Cases, Reductions,
                         testing::Values(Case{{5}, {0}}, Case{{200003}, {0}}, Case{{3, 7}, {1}}, Case{{300, 1001}, {1}},
                                         Case{{3, 7}, {0}}, Case{{4096, 10}, {0}}, Case{{3000, 130}, {0}},
                                         Case{{8, 7, 7, 96}, {1, 2}}, Case{{4, 5, 6, 7}, {0, 2}},
                                         Case{{4, 5, 6, 7}, {1, 3}}, Case{{4, 33, 6, 7}, {0, 2, 3}},
                                         Case{{4, 5, 6, 7}, {0, 1, 2, 3}}, Case{{4, 5}, {}}, Case{{1, 6, 1}, {0, 2}},
                                         Case{{1, 1}, {0}}));

TEST(ReductionOfNothing, GivesTheNeutralElement) {
  const Tensor x(DType::kFloat32, {0, 3});
  const ReduceAttrs attrs{{0}, false};
  const auto sum = RunKernel(OpKind::kSum, attrs, {x}, {F32({3})}),
             mean = RunKernel(OpKind::kMean, attrs, {x}, {F32({3})}),
             max = RunKernel(OpKind::kMax, attrs, {x}, {F32({3})});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sum[0].data<float>()[i], 0);
    EXPECT_TRUE(std::isnan(mean[0].data<float>()[i]));
    EXPECT_EQ(max[0].data<float>()[i], -std::numeric_limits<float>::infinity());
  }
}

TEST(Extremes, KeepNan) {
  for (int64_t size : {3, 40, 5000}) {
    Tensor x = Random({size, 2}, 1);
    x.data<float>()[2] = std::nanf("");
    for (OpKind kind : {OpKind::kMax, OpKind::kMin}) {
      const auto columns = RunKernel(kind, ReduceAttrs{{0}, false}, {x}, {F32({2})});
      EXPECT_TRUE(std::isnan(columns[0].data<float>()[0]) && !std::isnan(columns[0].data<float>()[1])) << size;
      EXPECT_TRUE(std::isnan(RunKernel(kind, ReduceAttrs{{0, 1}, false}, {x}, {F32({})})[0].data<float>()[0])) << size;
    }
  }
}

TEST(L2Loss, IsHalfTheSumOfSquares) {
  for (int64_t size : {1, 17, 100001}) {
    const Tensor x = Random({size}, 1);
    double sum = 0;
    for (float v : x.data<float>()) sum += static_cast<double>(v) * static_cast<double>(v);
    EXPECT_NEAR(RunKernel(OpKind::kL2Loss, NoAttrs{}, {x}, {F32({})})[0].data<float>()[0] / (sum / 2), 1, 1e-6);
  }
}

// The gradient of float32 biases from bfloat16 activations stays float32.
TEST(BiasAddGrad, SumsOverAllButTheChannels) {
  for (const Shape& shape : {Shape{8, 14, 14, 20}, Shape{64, 5}, Shape{4, 28, 28, 256}}) {
    const Tensor half = AsBFloat16(Random(shape, 1)), dy = AsFloat32(half);
    const int64_t c = shape[shape.rank() - 1];
    Tensor expected(DType::kFloat32, {c});
    std::vector<double> sums(static_cast<size_t>(c));
    for (size_t i = 0; i < dy.data<float>().size(); ++i)
      sums[i % sums.size()] += static_cast<double>(dy.data<float>()[i]);
    std::ranges::transform(sums, expected.data<float>().begin(), [](double v) { return static_cast<float>(v); });
    for (const Tensor& given : {dy, half})
      ExpectNear(RunKernel(OpKind::kBiasAddGrad, BiasAddAttrs{}, {given}, {F32({c})})[0], expected, 1e-4);
  }
}

}  // namespace
}  // namespace muster::cpu
