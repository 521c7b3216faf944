// The update kernels against TensorFlow's ten steps of each optimizer (tests/data/golden/optimizers.json). Optimizers
// that are made of several operations are tested with the builders of nn/.
#include <cmath>
#include <cstdio>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backend/reference/reference_table.h"
#include "tests/backend/testing/run_op.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

using nlohmann::json;
using testing::RunOp;

Tensor Vector(DType dtype, const std::vector<double>& values) {
  return testing::Converted(
      Tensor::Of<double>(Shape{static_cast<int64_t>(values.size())}, std::span<const double>(values)), dtype);
}
Tensor Number(DType dtype, double value) { return testing::Converted(Tensor::Scalar<double>(value), dtype); }

// How an optimizer of the table is run: its operation, what its slots start at, and its inputs behind the refs.
struct Recipe {
  OpKind kind;
  ApplyAttrs attrs;
  std::vector<float> slots;
  std::function<std::vector<Tensor>(int step, const Tensor& grad, DType dtype)> inputs;
  double tolerance = 2e-6;
};

// A recipe of the scalars before and after the gradient, which do not depend on the step. Scalars are float32 numbers
// in both of the table's precisions.
Recipe Fixed(OpKind kind, std::vector<float> slots, std::vector<float> before, std::vector<float> after = {},
             ApplyAttrs attrs = {}) {
  return {kind, attrs, std::move(slots), [=](int, const Tensor& grad, DType dtype) {
            std::vector<Tensor> inputs;
            for (float value : before) inputs.push_back(Number(dtype, value));
            inputs.push_back(grad);
            for (float value : after) inputs.push_back(Number(dtype, value));
            return inputs;
          }};
}

// beta^step as the optimizer's variable holds it: multiplied step by step in float32.
float Power(float beta, int step) {
  float power = beta;
  for (int i = 1; i < step; ++i) power *= beta;
  return power;
}

Recipe Adam(float lr, float beta1, float beta2, float epsilon) {
  return {OpKind::kApplyAdam, {}, {0, 0}, [=](int step, const Tensor& grad, DType dtype) {
            std::vector<Tensor> inputs;
            for (float value : {Power(beta1, step), Power(beta2, step), lr, beta1, beta2, epsilon})
              inputs.push_back(Number(dtype, value));
            inputs.push_back(grad);
            return inputs;
          }};
}

Recipe AdaMax(float lr, float beta1, float beta2, float epsilon) {
  return {OpKind::kApplyAdaMax, {}, {0, 0}, [=](int step, const Tensor& grad, DType dtype) {
            std::vector<Tensor> inputs;
            for (float value : {Power(beta1, step), lr, beta1, beta2, epsilon}) inputs.push_back(Number(dtype, value));
            inputs.push_back(grad);
            return inputs;
          }};
}

// The recipe that an optimizer's name in the table stands for; none for those of several operations.
std::optional<Recipe> RecipeFor(const std::string& name, float lr) {
  float a = 0, b = 0, c = 0;
  const char* s = name.c_str();
  if (name == "sgd") return Fixed(OpKind::kApplyGradientDescent, {}, {lr});
  if (std::sscanf(s, "momentum_%f", &a) == 1 || std::sscanf(s, "nesterov_%f", &a) == 1) {
    Recipe recipe = Fixed(OpKind::kApplyMomentum, {0}, {lr}, {a}, {.use_nesterov = name.starts_with("nesterov")});
    recipe.tolerance = 2e-5;
    return recipe;
  }
  if (std::sscanf(s, "rmsprop_d%f_m%f_eps%f", &a, &b, &c) == 3)
    return Fixed(OpKind::kApplyRMSProp, {1, 0}, {lr, a, b, c});
  if (std::sscanf(s, "rmsprop_centered_d%f_m%f_eps%f", &a, &b, &c) == 3)
    return Fixed(OpKind::kApplyCenteredRMSProp, {0, 1, 0}, {lr, a, b, c});
  if (std::sscanf(s, "adam_%f_%f_eps%f", &a, &b, &c) == 3 || std::sscanf(s, "adam_%f_%f_%f", &a, &b, &c) == 3)
    return Adam(lr, a, b, c);
  if (name == "adamax") return AdaMax(lr, 0.9f, 0.999f, 1e-7f);
  if (std::sscanf(s, "adagrad_acc%f", &a) == 1) return Fixed(OpKind::kApplyAdagrad, {a}, {lr});
  if (std::sscanf(s, "adadelta_rho%f_eps%f", &a, &b) == 2) return Fixed(OpKind::kApplyAdadelta, {0, 0}, {lr, a, b});
  if (name == "ftrl" || std::sscanf(s, "ftrl_l1_%f_l2_%f", &a, &b) == 2)
    return Fixed(OpKind::kApplyFtrl, {0.1f, 0}, {}, {lr, a, b, -0.5f});
  if (std::sscanf(s, "proximal_sgd_l1_%f_l2_%f", &a, &b) == 2)
    return Fixed(OpKind::kApplyProximalGradientDescent, {}, {lr, a, b});
  return std::nullopt;
}

void RunSteps(const json& table, const Recipe& recipe, const json& expected, DType dtype, double tolerance) {
  const auto start = table["w0"].get<std::vector<double>>();
  std::vector<Tensor> refs{Vector(dtype, start)};
  for (float slot : recipe.slots) refs.push_back(Vector(dtype, std::vector<double>(start.size(), slot)));
  int step = 0;
  for (const json& gradient : table["gradients"]) {
    std::vector<Tensor> inputs = refs;
    for (Tensor& input : recipe.inputs(step + 1, Vector(dtype, gradient.get<std::vector<double>>()), dtype))
      inputs.push_back(input);
    const auto results = RunOp(ReferenceTable(), {recipe.kind, recipe.attrs, inputs});
    refs.assign(results.begin() + 1, results.end());
    const auto w = testing::ToDoubles(refs[0]), want = expected[static_cast<size_t>(step)].get<std::vector<double>>();
    for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], want[i], tolerance) << "step " << step << ", weight " << i;
    ++step;
  }
}

TEST(GoldenOptimizerOps, UpdateAsTensorFlowDoes) {
  const json table = testing::GoldenJson("optimizers.json");
  int tested = 0;
  for (const auto& [name, optimizer] : table["optimizers"].items()) {
    SCOPED_TRACE(name);
    const auto recipe = RecipeFor(name, table["learning_rate"].get<float>());
    if (!recipe) continue;
    ++tested;
    if (optimizer.contains("w_after_step_float32"))
      RunSteps(table, *recipe, optimizer["w_after_step_float32"], DType::kFloat32, recipe->tolerance);
    // Where both precisions agree to the last bit (proximal_sgd), the float64 numbers are float32 numbers.
    if (optimizer.value("max_abs_diff_32_64", 0.0) > 0)
      RunSteps(table, *recipe, optimizer["w_after_step_float64"], DType::kFloat64, 1e-8);
  }
  EXPECT_GE(tested, 10);
}

TEST(ReferenceApply, ZeroPaddingOfAnOpaqueFormStaysZero) {
  const Tensor zero = Vector(DType::kFloat32, {0}), none = Number(DType::kFloat32, 0), one = Number(DType::kFloat32, 1);
  const std::pair<OpKind, std::vector<Tensor>> cases[] = {
      {OpKind::kApplyRMSProp, {zero, zero, zero, one, none, none, none, zero}},
      {OpKind::kApplyCenteredRMSProp, {zero, zero, zero, zero, one, none, none, none, zero}},
      {OpKind::kApplyAdam, {zero, zero, zero, none, none, one, none, none, none, zero}},
      {OpKind::kApplyAdaMax, {zero, zero, zero, none, one, none, none, none, zero}},
      {OpKind::kApplyAdagrad, {zero, zero, one, zero}},
      {OpKind::kApplyAdadelta, {zero, zero, zero, one, none, none, zero}},
  };
  for (const auto& [kind, inputs] : cases)
    for (const Tensor& result : RunOp(ReferenceTable(), {kind, ApplyAttrs{}, inputs}))
      EXPECT_EQ(result.data<float>()[0], 0.0f) << OpName(kind);
}

}  // namespace
}  // namespace muster
