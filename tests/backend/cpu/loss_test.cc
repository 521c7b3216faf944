#include <cmath>

#include <gtest/gtest.h>

#include "muster/error.h"
#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

// log softmax of one row in double precision.
std::vector<double> LogSoftmax(const float* x, size_t n) {
  double max = static_cast<double>(x[0]), sum = 0;
  for (size_t j = 0; j < n; ++j) max = std::max(max, static_cast<double>(x[j]));
  for (size_t j = 0; j < n; ++j) sum += std::exp(static_cast<double>(x[j]) - max);
  std::vector<double> y(n);
  for (size_t j = 0; j < n; ++j) y[j] = static_cast<double>(x[j]) - max - std::log(sum);
  return y;
}

class Softmax : public testing::TestWithParam<std::pair<int64_t, int64_t>> {
 protected:
  int64_t rows = GetParam().first, classes = GetParam().second;
  Shape shape{rows, classes};
  Tensor x = Random(shape, 1, -20, 20);
  const float* row(int64_t i) const { return x.data<float>().data() + i * classes; }
};

TEST_P(Softmax, AndItsLogarithmFollowTheDefinition) {
  Tensor y(DType::kFloat32, shape), log_y(DType::kFloat32, shape);
  for (int64_t i = 0; i < rows; ++i) {
    const auto expected = LogSoftmax(row(i), static_cast<size_t>(classes));
    for (int64_t j = 0; j < classes; ++j) {
      log_y.data<float>()[i * classes + j] = static_cast<float>(expected[static_cast<size_t>(j)]);
      y.data<float>()[i * classes + j] = static_cast<float>(std::exp(expected[static_cast<size_t>(j)]));
    }
  }
  ExpectNear(RunKernel(OpKind::kSoftmax, NoAttrs{}, {x}, {F32(shape)})[0], y, 3e-6);
  ExpectNear(RunKernel(OpKind::kLogSoftmax, NoAttrs{}, {x}, {F32(shape)})[0], log_y, 3e-6);
}

TEST_P(Softmax, SparseCrossEntropyGivesLossAndGradient) {
  Tensor labels(DType::kInt32, {rows}), wide(DType::kInt64, {rows}), loss(DType::kFloat32, {rows}),
      grad(DType::kFloat32, shape);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t label = i * 7 % classes;
    labels.data<int32_t>()[i] = static_cast<int32_t>(label);
    wide.data<int64_t>()[i] = label;
    const auto expected = LogSoftmax(row(i), static_cast<size_t>(classes));
    loss.data<float>()[i] = static_cast<float>(-expected[static_cast<size_t>(label)]);
    for (int64_t j = 0; j < classes; ++j)
      grad.data<float>()[i * classes + j] =
          static_cast<float>(std::exp(expected[static_cast<size_t>(j)]) - (j == label ? 1 : 0));
  }
  for (const Tensor& given : {labels, wide}) {
    const auto out =
        RunKernel(OpKind::kSparseSoftmaxCrossEntropyWithLogits, NoAttrs{}, {x, given}, {F32({rows}), F32(shape)});
    ExpectNear(out[0], loss, 1e-6);
    ExpectNear(out[1], grad, 1e-6);
  }
}

TEST_P(Softmax, DenseCrossEntropyGivesLossAndGradient) {
  Tensor p = Random(shape, 2, 0, 1), loss(DType::kFloat32, {rows}), grad(DType::kFloat32, shape);
  p.data<float>()[0] = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const auto expected = LogSoftmax(row(i), static_cast<size_t>(classes));
    double total = 0;
    for (int64_t j = 0; j < classes; ++j) {
      const double label = static_cast<double>(p.data<float>()[i * classes + j]);
      total -= label * expected[static_cast<size_t>(j)];
      grad.data<float>()[i * classes + j] = static_cast<float>(std::exp(expected[static_cast<size_t>(j)]) - label);
    }
    loss.data<float>()[i] = static_cast<float>(total);
  }
  const auto out = RunKernel(OpKind::kSoftmaxCrossEntropyWithLogits, NoAttrs{}, {x, p}, {F32({rows}), F32(shape)});
  ExpectNear(out[0], loss, 3e-6);
  ExpectNear(out[1], grad, 1e-6);
}

using Size = std::pair<int64_t, int64_t>;
INSTANTIATE_TEST_SUITE_P(Sizes, Softmax,
                         testing::Values(Size{1, 1}, Size{3, 10}, Size{128, 16}, Size{5, 1001}, Size{300, 37}));

TEST(SparseCrossEntropy, NamesALabelThatIsOutOfRange) {
  const Tensor x = Random({2, 3}, 1), labels = Tensor::Of<int32_t>({2}, {0, 3});
  try {
    RunKernel(OpKind::kSparseSoftmaxCrossEntropyWithLogits, NoAttrs{}, {x, labels}, {F32({2}), F32({2, 3})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "label 3 of row 1 is outside [0, 3)");
  }
}

TEST(SoftmaxNan, StaysWithinItsRow) {
  Tensor x = Random({2, 20}, 1);
  x.data<float>()[3] = std::nanf("");
  const auto y = RunKernel(OpKind::kSoftmax, NoAttrs{}, {x}, {F32({2, 20})});
  EXPECT_TRUE(std::isnan(y[0].data<float>()[0]));
  EXPECT_FALSE(std::isnan(y[0].data<float>()[20]));
}

class Lrn : public testing::TestWithParam<std::pair<Shape, LRNAttrs>> {};

TEST_P(Lrn, FollowsTheDefinitionForwardAndBackward) {
  const auto& [shape, attrs] = GetParam();
  const int64_t c = shape[3], rows = shape.num_elements() / c;
  const Tensor x = Random(shape, 1, -3, 3), dy = Random(shape, 2);
  Tensor y(DType::kFloat32, shape), dx(DType::kFloat32, shape);
  for (int64_t i = 0; i < rows; ++i) {
    const float *xi = x.data<float>().data() + i * c, *gi = dy.data<float>().data() + i * c;
    const auto window = [&](int64_t k, const auto& term) {
      double sum = 0;
      for (int64_t j = std::max<int64_t>(k - attrs.depth_radius, 0);
           j <= std::min<int64_t>(k + attrs.depth_radius, c - 1); ++j)
        sum += term(j);
      return sum;
    };
    const auto s = [&](int64_t k) {
      return attrs.bias + attrs.alpha * window(k, [&](int64_t j) {
                            return static_cast<double>(xi[j]) * static_cast<double>(xi[j]);
                          });
    };
    const auto yi = [&](int64_t k) { return static_cast<double>(xi[k]) * std::pow(s(k), -attrs.beta); };
    for (int64_t k = 0; k < c; ++k) {
      y.data<float>()[i * c + k] = static_cast<float>(yi(k));
      const double across = window(k, [&](int64_t j) { return static_cast<double>(gi[j]) * yi(j) / s(j); });
      dx.data<float>()[i * c + k] =
          static_cast<float>(static_cast<double>(gi[k]) * std::pow(s(k), -attrs.beta) -
                             2 * attrs.alpha * attrs.beta * static_cast<double>(xi[k]) * across);
    }
  }
  const auto out = RunKernel(OpKind::kLRN, attrs, {x}, {F32(shape)});
  ExpectNear(out[0], y, 2e-6);
  ExpectNear(RunKernel(OpKind::kLRNGrad, attrs, {dy, x, out[0]}, {F32(shape)})[0], dx, 3e-6);
}

using P = std::pair<Shape, LRNAttrs>;
INSTANTIATE_TEST_SUITE_P(Cases, Lrn,
                         testing::Values(P{{2, 5, 5, 64}, {5, 1, 1e-4, 0.75}}, P{{1, 3, 3, 7}, {2, 2, 0.1, 0.5}},
                                         P{{1, 2, 2, 3}, {5, 1, 0.3, 1}}, P{{2, 4, 4, 33}, {0, 1.5, 0.2, 0.6}},
                                         P{{8, 16, 16, 20}, {4, 1, 0.001 / 9, 0.75}}));

}  // namespace
}  // namespace muster::cpu
