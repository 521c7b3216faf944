#include "muster/losses.h"

#include <cmath>

#include <gtest/gtest.h>

#include "muster/session.h"

namespace muster {
namespace {

class LossesTest : public ::testing::Test {
 protected:
  double Value(Output x) {
    Session session(&graph_, {.intra_op_threads = 1, .backend = "reference"});
    session.Initialize();
    return session.Run({}, {x})[0].scalar<float>();
  }
  Output Logits() { return ops::Const(scope_, Tensor::Of<float>({2, 3}, {1, 2, 3, 0, 0, 0})); }
  Output Labels() { return ops::Const(scope_, Tensor::Of<int32_t>({2}, {0, 1})); }
  Variable Filled(std::string_view name, float value) {
    return GetVariable(scope_, {name, DType::kFloat32, {4}, initializers::Constant(value)});
  }

  Graph graph_;
  Scope scope_{&graph_};
};

// -log softmax of each label, by hand: log(1 + e + e^2) and log 3.
const double kFirst = std::log(1 + std::exp(1.0) + std::exp(2.0));

TEST_F(LossesTest, CrossEntropyIsTheMeanOverTheBatch) {
  EXPECT_NEAR(Value(SoftmaxCrossEntropyMean(scope_, Logits(), Labels())), (kFirst + std::log(3.0)) / 2, 1e-6);
}

TEST_F(LossesTest, SmoothedLabelsMixInTheUniformDistribution) {
  const double s = 0.1;
  // The uniform part of the first row: mean of -log softmax = kFirst - (0 + 1 + 2)/3.
  const double first = (1 - s) * kFirst + s * (kFirst - 1);
  EXPECT_NEAR(Value(SoftmaxCrossEntropyMean(scope_, Logits(), Labels(), s)), (first + std::log(3.0)) / 2, 1e-6);
}

TEST_F(LossesTest, WeightDecayLeavesBatchNormOutAndTakesBiasesIn) {
  const std::vector<Variable> variables{Filled("cg/conv0/conv2d/kernel", 2), Filled("cg/conv0/biases", 1),
                                        Filled("cg/conv0/batchnorm0/gamma", 100)};
  EXPECT_NEAR(Value(L2LossOfVariables(scope_, variables)), (4 * 4 + 4 * 1) / 2.0, 1e-6);
  EXPECT_NEAR(Value(L2LossOfVariables(scope_, variables, true)), (4 * 4 + 4 * 1) / 2.0, 1e-6);
  EXPECT_FALSE(L2LossOfVariables(scope_, {variables[2]}).is_valid());
}

TEST_F(LossesTest, TheOneTowerThatDecaysCountsForAllOfThem) {
  const Output base = ops::Const(scope_, Tensor::Scalar<float>(1));
  const std::vector<Variable> variables{Filled("w", 2)};
  EXPECT_NEAR(Value(AddWeightDecay(scope_, base, variables, {.rate = 0.25})), 1 + 0.25 * 8, 1e-6);
  EXPECT_NEAR(Value(AddWeightDecay(scope_, base, variables, {.rate = 0.25, .num_towers = 4})), 1 + 4 * 0.25 * 8, 1e-6);
  EXPECT_EQ(AddWeightDecay(scope_, base, variables, {}), base);
}

TEST_F(LossesTest, CorrectRowsAreCounted) {
  EXPECT_EQ(Value(TopKCorrect(scope_, Logits(), Labels(), 1)), 1);  // the second row is a tie, which counts
  EXPECT_EQ(Value(TopKCorrect(scope_, Logits(), Labels(), 3)), 2);
}

struct Moments {
  double mean, stddev, largest;
};

Moments Draw(const Initializer& initializer, const Shape& shape) {
  Graph graph;
  Scope scope(&graph);
  const Variable w = GetVariable(scope, {"w", DType::kFloat32, shape, initializer});
  Session session(&graph, {.intra_op_threads = 1, .backend = "reference"});
  session.Initialize();
  const Tensor value = session.ReadVariable(w);
  double sum = 0, squares = 0, largest = 0;
  for (float x : value.data<float>()) {
    sum += x;
    squares += static_cast<double>(x) * x;
    largest = std::max(largest, std::abs(static_cast<double>(x)));
  }
  const double n = static_cast<double>(shape.num_elements());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n)), largest};
}

// 90,000 numbers: the standard error of a mean is stddev/300, that of a standard deviation about stddev/420.
constexpr double kClose = 0.02;

TEST(InitializerDraws, HaveTheWantedMeanSpreadAndBounds) {
  const Shape shape{3, 3, 50, 200};  // 450 numbers flow in, 1800 out
  const Moments scaled = Draw(initializers::VarianceScaling(), shape);
  EXPECT_NEAR(scaled.stddev, std::sqrt(1.0 / 450), kClose * scaled.stddev);
  EXPECT_NEAR(scaled.mean, 0, kClose * scaled.stddev);
  EXPECT_LE(scaled.largest, 2 * std::sqrt(1.0 / 450) / 0.8796);
  const Moments he = Draw(initializers::HeNormal(), shape);
  EXPECT_NEAR(he.stddev, std::sqrt(2.0 / 450), kClose * he.stddev);
  const Moments glorot = Draw(initializers::GlorotUniform(), shape);
  EXPECT_NEAR(glorot.stddev, std::sqrt(1.0 / 1125), kClose * glorot.stddev);
  EXPECT_LE(glorot.largest, std::sqrt(3.0 / 1125));
  const Moments cut = Draw(initializers::TruncatedNormal(5, 2), shape);
  EXPECT_NEAR(cut.mean, 5, kClose * 2);
  EXPECT_NEAR(cut.stddev, 2 * 0.8796, kClose * 2);
  const Moments normal = Draw(initializers::RandomNormal(-1, 3), shape);
  EXPECT_NEAR(normal.stddev, 3, kClose * 3);
  const Moments uniform = Draw(initializers::RandomUniform(2, 4), shape);
  EXPECT_NEAR(uniform.mean, 3, kClose);
  EXPECT_LT(uniform.largest, 4);
}

}  // namespace
}  // namespace muster
