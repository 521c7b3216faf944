// The gradient of every differentiable operation against central differences, in float64 on the reference backend.

#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/op_def.h"
#include "graph/ops/gradient_rules.h"
#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"
#include "tests/graph/gradient_cases.h"

namespace muster::testing {
namespace {

// Distinct values, evenly spread in random order: no two closer than the step of the differences, so that maxima stay
// where they are.
std::vector<Tensor> SpreadValues(const GradientCase& c) {
  int64_t count = 0;
  for (const Shape& shape : c.shapes) count += shape.num_elements();
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  std::vector<Tensor> values;
  auto next = order.begin();
  for (const Shape& shape : c.shapes) {
    Tensor value(DType::kFloat64, shape);
    for (double& v : value.data<double>())
      v = c.low + (c.high - c.low) * (static_cast<double>(*next++) + 0.37) / static_cast<double>(count);
    values.push_back(value);
  }
  return values;
}

Tensor RandomWeights(const Shape& shape, uint32_t seed) {
  Tensor value(DType::kFloat64, shape);
  std::mt19937 random(seed);
  for (double& v : value.data<double>()) v = std::uniform_real_distribution<double>(0.5, 1.5)(random);
  return value;
}

// The sum of all elements of all outputs, each weighted by its own random number.
Output WeightedSum(const Scope& scope, const std::vector<Output>& outputs) {
  std::vector<Output> sums;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output weights = ops::Const(scope, RandomWeights(scope.shape(outputs[i]), static_cast<uint32_t>(i)));
    sums.push_back(ops::Sum(scope, ops::Mul(scope, outputs[i], weights)));
  }
  return sums.size() == 1 ? sums[0] : ops::AddN(scope, sums);
}

class GradientCheck : public ::testing::TestWithParam<GradientCase> {};

TEST_P(GradientCheck, AgreesWithFiniteDifferences) {
  const GradientCase& c = GetParam();
  Graph graph;
  const Scope scope(&graph);
  std::vector<Output> xs;
  for (const Shape& shape : c.shapes) xs.push_back(ops::Placeholder(scope, DType::kFloat64, shape));
  const Output loss = WeightedSum(scope, c.build(scope, xs));
  const std::vector<Output> gradients = Gradients(scope, loss, xs);
  std::vector<Output> fetched;
  for (const Output& g : gradients)
    if (g.is_valid()) fetched.push_back(g);
  ASSERT_FALSE(fetched.empty()) << "no gradient at all";

  Session session(&graph, {.backend = "reference"});
  const std::vector<Tensor> values = SpreadValues(c);
  const std::vector<Tensor> analytic = session.Prepare(xs, fetched)->Run(values);
  const auto forward = session.Prepare(xs, {loss});
  const auto loss_with = [&](size_t input, size_t element, double delta) {
    std::vector<Tensor> moved = values;
    moved[input] = values[input].Clone();
    moved[input].data<double>()[element] += delta;
    return forward->Run(moved)[0].scalar<double>();
  };

  constexpr double kStep = 1e-5;
  size_t next = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    const bool has_gradient = gradients[i].is_valid();
    if (has_gradient) {
      ASSERT_EQ(analytic[next].shape(), c.shapes[i]) << "input " << i;
    }
    for (size_t e = 0; e < static_cast<size_t>(c.shapes[i].num_elements()); ++e) {
      const double numeric = (loss_with(i, e, kStep) - loss_with(i, e, -kStep)) / (2 * kStep);
      const double exact = has_gradient ? analytic[next].data<double>()[e] : 0;
      ASSERT_NEAR(exact, numeric, 2e-7 * std::max(1.0, std::abs(numeric))) << "input " << i << ", element " << e;
    }
    next += has_gradient ? 1 : 0;
  }
}

std::string CaseName(const ::testing::TestParamInfo<GradientCase>& info) {
  return fmt::format("{}_{}", OpName(info.param.kind), info.param.name);
}

INSTANTIATE_TEST_SUITE_P(, GradientCheck, ::testing::ValuesIn(GradientCases()), CaseName);

TEST(GradientCases, CoverEveryOperationWithAGradientRule) {
  std::set<OpKind> covered;
  for (const GradientCase& c : GradientCases()) covered.insert(c.kind);
  for (size_t i = 0; i < kNumOpKinds; ++i) {
    const OpDef& def = GetOpDef(static_cast<OpKind>(i));
    if (def.gradient == nullptr || def.gradient == NoGradient) continue;
    EXPECT_EQ(covered.count(def.kind), 1u) << OpName(def.kind) << " has a gradient rule but no case in gradient_cases";
  }
}

}  // namespace

void PrintTo(const GradientCase& c, std::ostream* out) { *out << OpName(c.kind) << " " << c.name; }

std::vector<GradientCase> GradientCases() {
  std::vector<GradientCase> all;
  for (const auto& part : {ElementwiseGradientCases(), ArrayGradientCases(), NeuralGradientCases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace muster::testing
