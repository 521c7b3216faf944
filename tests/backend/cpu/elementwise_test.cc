#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

struct Unary {
  OpKind kind;
  double (*f)(double);
  double tolerance = 0;
};

void PrintTo(const Unary& u, std::ostream* os) { *os << OpName(u.kind); }

class UnaryOps : public testing::TestWithParam<Unary> {};

TEST_P(UnaryOps, AgreeWithTheCLibrary) {
  std::vector<float> values{0,      -0.0f, 1,   -1,  0.5f, 6,    7,     1e-6f, -1e-6f, 1e-30f,
                            1e-42f, 88,    -88, 100, -100, -104, 3e38f, kInf,  -kInf};
  for (int i = -300; i <= 300; ++i) values.push_back(static_cast<float>(i) * 0.0731f);
  const Shape shape{static_cast<int64_t>(values.size())};
  const auto out = RunKernel(GetParam().kind, NoAttrs{}, {Tensor::Of<float>(shape, values)}, {F32(shape)});
  for (size_t i = 0; i < values.size(); ++i) {
    const float expected = static_cast<float>(GetParam().f(static_cast<double>(values[i]))),
                got = out[0].data<float>()[i];
    if (std::isnan(expected)) EXPECT_TRUE(std::isnan(got)) << values[i] << " gave " << got;
    else if (std::isinf(expected)) EXPECT_EQ(got, expected) << values[i];
    else EXPECT_NEAR(got, expected, GetParam().tolerance * (1e-30 + std::abs(expected))) << values[i];
  }
}

TEST_P(UnaryOps, KeepNan) {
  const auto out = RunKernel(GetParam().kind, NoAttrs{}, {Tensor::Of<float>({3}, {kNan, 1, kNan})}, {F32({3})});
  EXPECT_TRUE(std::isnan(out[0].data<float>()[0]) && !std::isnan(out[0].data<float>()[1]) &&
              std::isnan(out[0].data<float>()[2]));
}

double Sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

INSTANTIATE_TEST_SUITE_P(
    All, UnaryOps,
    testing::Values(Unary{OpKind::kNeg, [](double x) { return -x; }},
                    Unary{OpKind::kSquare, [](double x) { return x * x; }, 1e-7},
                    Unary{OpKind::kSqrt, [](double x) { return std::sqrt(x); }, 1e-7},
                    Unary{OpKind::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 2e-7},
                    Unary{OpKind::kReciprocal, [](double x) { return 1 / x; }, 1e-7},
                    Unary{OpKind::kAbs, [](double x) { return std::abs(x); }}, Unary{OpKind::kSign, Sign},
                    Unary{OpKind::kExp, [](double x) { return std::exp(x); }, 1e-6},
                    Unary{OpKind::kLog, [](double x) { return std::log(x); }, 1e-6},
                    Unary{OpKind::kFloor, [](double x) { return std::floor(x); }},
                    Unary{OpKind::kCeil, [](double x) { return std::ceil(x); }},
                    Unary{OpKind::kRelu, [](double x) { return std::max(x, 0.0); }},
                    Unary{OpKind::kRelu6, [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
                    Unary{OpKind::kSigmoid, Sigmoid, 1e-6},
                    Unary{OpKind::kTanh, [](double x) { return std::tanh(x); }, 1e-6},
                    Unary{OpKind::kSoftplus, [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); }, 1e-6}),
    [](const auto& info) { return std::string(OpName(info.param.kind)); });

struct Binary {
  OpKind kind;
  double (*f)(double, double);
};

const Binary kArithmetic[] = {{OpKind::kAdd, [](double a, double b) { return a + b; }},
                              {OpKind::kSub, [](double a, double b) { return a - b; }},
                              {OpKind::kMul, [](double a, double b) { return a * b; }},
                              {OpKind::kDiv, [](double a, double b) { return a / b; }},
                              {OpKind::kMaximum, [](double a, double b) { return std::max(a, b); }},
                              {OpKind::kMinimum, [](double a, double b) { return std::min(a, b); }},
                              {OpKind::kSquaredDifference, [](double a, double b) { return (a - b) * (a - b); }}};

// The element of "small" that meets element i of "out".
size_t Broadcast(const Shape& small, const Shape& out, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int k = 1; k <= out.rank(); ++k) {
    const int64_t index = i % out[out.rank() - k];
    i /= out[out.rank() - k];
    if (k > small.rank()) continue;
    const int64_t size = small[small.rank() - k];
    if (size > 1) at += index * stride;
    stride *= size;
  }
  return static_cast<size_t>(at);
}

class Broadcasting : public testing::TestWithParam<std::pair<Shape, Shape>> {};

TEST_P(Broadcasting, MeetsElementsAsNumPyDoes) {
  const auto& [a_shape, b_shape] = GetParam();
  const Shape shape = BroadcastShapes(a_shape, b_shape);
  const Tensor a = Random(a_shape, 1), b = Random(b_shape, 2, 0.5f, 2);
  for (const Binary& op : kArithmetic) {
    Tensor expected(DType::kFloat32, shape);
    for (int64_t i = 0; i < shape.num_elements(); ++i)
      expected.data<float>()[i] =
          static_cast<float>(op.f(static_cast<double>(a.data<float>()[Broadcast(a_shape, shape, i)]),
                                  static_cast<double>(b.data<float>()[Broadcast(b_shape, shape, i)])));
    ExpectNear(RunKernel(op.kind, NoAttrs{}, {a, b}, {F32(shape)})[0], expected, 2e-7);
  }
}

using Pair = std::pair<Shape, Shape>;
INSTANTIATE_TEST_SUITE_P(Shapes, Broadcasting,
                         testing::Values(Pair{{}, {}}, Pair{{5}, {5}}, Pair{{70000}, {70000}}, Pair{{33}, {}},
                                         Pair{{}, {33}}, Pair{{4, 7}, {7}}, Pair{{7}, {4, 7}},
                                         Pair{{300, 70}, {300, 1}}, Pair{{4, 1}, {1, 5}}, Pair{{2, 3, 4, 5}, {3, 1, 5}},
                                         Pair{{2, 1, 4}, {3, 1}}, Pair{{1, 1}, {2, 2}}, Pair{{0, 3}, {3}},
                                         Pair{{2, 1, 1, 3}, {2, 6, 5, 3}}));

TEST(BinaryOps, MaximumAndMinimumKeepNan) {
  const Tensor a = Tensor::Of<float>({3}, {kNan, 1, 2}), b = Tensor::Of<float>({3}, {1, kNan, 3});
  for (OpKind kind : {OpKind::kMaximum, OpKind::kMinimum}) {
    const auto out = RunKernel(kind, NoAttrs{}, {a, b}, {F32({3})});
    EXPECT_TRUE(std::isnan(out[0].data<float>()[0]) && std::isnan(out[0].data<float>()[1]));
  }
}

TEST(ActivationGradients, FollowTheirDerivatives) {
  const Shape shape{37};
  const Tensor dy = Random(shape, 1), y = Random(shape, 2, -8, 8);
  const auto check = [&](OpKind kind, bool dy_first, double (*slope)(double)) {
    const auto out = dy_first ? RunKernel(kind, NoAttrs{}, {dy, y}, {F32(shape)})
                              : RunKernel(kind, NoAttrs{}, {y, dy}, {F32(shape)});
    for (size_t i = 0; i < 37; ++i)
      EXPECT_NEAR(out[0].data<float>()[i], dy.data<float>()[i] * slope(static_cast<double>(y.data<float>()[i])), 3e-5)
          << OpName(kind);
  };
  check(OpKind::kReluGrad, true, [](double v) { return v > 0 ? 1.0 : 0.0; });
  check(OpKind::kRelu6Grad, true, [](double v) { return v > 0 && v < 6 ? 1.0 : 0.0; });
  check(OpKind::kSigmoidGrad, false, [](double v) { return v * (1 - v); });
  check(OpKind::kTanhGrad, false, [](double v) { return 1 - v * v; });
  check(OpKind::kSoftplusGrad, true, Sigmoid);
}

TEST(BiasAdd, AddsToTheLastAxis) {
  const Tensor x = Random({3, 5, 5, 20}, 1), bias = Random({20}, 2);
  const auto out = RunKernel(OpKind::kBiasAdd, BiasAddAttrs{}, {x, bias}, {F32({3, 5, 5, 20})});
  for (size_t i = 0; i < 1500; ++i) EXPECT_EQ(out[0].data<float>()[i], x.data<float>()[i] + bias.data<float>()[i % 20]);
}

TEST(AddN, SumsInOrder) {
  const Shape shape{40003};
  const Tensor a = Random(shape, 1), b = Random(shape, 2), c = Random(shape, 3);
  const auto out = RunKernel(OpKind::kAddN, NoAttrs{}, {a, b, c}, {F32(shape)});
  for (size_t i = 0; i < 40003; ++i)
    ASSERT_EQ(out[0].data<float>()[i], (a.data<float>()[i] + b.data<float>()[i]) + c.data<float>()[i]);
}

}  // namespace
}  // namespace muster::cpu
