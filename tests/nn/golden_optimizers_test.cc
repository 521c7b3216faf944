// Every optimizer of golden/optimizers.json, ten steps on five numbers, and the moving average.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/error.h"
#include "muster/ops/math.h"
#include "muster/optimizer.h"
#include "muster/session.h"
#include "tests/testing/golden.h"

namespace muster {
namespace {

using nlohmann::json;

constexpr double kFloat32Step = 1.2e-7;  // the large column's numbers are not finer than that

double NumberAfter(const std::string& name, const std::string& key, double otherwise) {
  const size_t at = name.find(key);
  return at == std::string::npos ? otherwise : std::stod(name.substr(at + key.size()));
}

std::unique_ptr<Optimizer> RmsPropNamed(const std::string& name, double rate) {
  RMSPropOptions options;
  options.decay = NumberAfter(name, "_d", 0.9);
  options.momentum = NumberAfter(name, "_m", 0);
  options.epsilon = NumberAfter(name, "_eps", 1e-10);
  options.centered = name.find("centered") != std::string::npos;
  return RMSPropOptimizer(rate, options);
}

std::unique_ptr<Optimizer> LarsNamed(const std::string& name, double rate) {
  LarsOptions options;
  options.eta = NumberAfter(name, "_eta", 0.001);
  options.weight_decay = NumberAfter(name, "_wd", 1e-4);
  options.momentum = NumberAfter(name, "_m", 0.9);
  options.use_nesterov = name.find("nesterov") != std::string::npos;
  return LarsOptimizer(rate, options);
}

// The parameters stand in the row's name or, as for Keras' three, in its formula. A listed optimizer must exist.
std::unique_ptr<Optimizer> OptimizerNamed(const std::string& name, double rate) {
  const auto is = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  if (is("sgd")) return GradientDescentOptimizer(rate);
  if (is("momentum_")) return MomentumOptimizer(rate, NumberAfter(name, "momentum_", 0.9));
  if (is("nesterov_")) return MomentumOptimizer(rate, NumberAfter(name, "nesterov_", 0.9), true);
  if (is("rmsprop")) return RmsPropNamed(name, rate);
  if (name == "adam_0.9_0.999_1e-8") return AdamOptimizer(rate, {0.9, 0.999, 1e-8});
  if (name == "adam_0.8_0.99_eps0.1") return AdamOptimizer(rate, {0.8, 0.99, 0.1});
  if (is("adamw_wd")) return AdamWOptimizer(rate, NumberAfter(name, "_wd", 0), {0.9, 0.999, 1e-8});
  if (is("adamax")) return AdaMaxOptimizer(rate, {0.9, 0.999, 1e-7});
  if (is("nadam")) return NadamOptimizer(rate, {0.9, 0.999, 1e-7});
  if (is("adagrad_acc")) return AdagradOptimizer(rate, NumberAfter(name, "_acc", 0.1));
  if (is("adadelta")) return AdadeltaOptimizer(rate, NumberAfter(name, "_rho", 0.95), NumberAfter(name, "_eps", 1e-8));
  if (is("ftrl")) return FtrlOptimizer(rate, {.l1 = NumberAfter(name, "_l1_", 0), .l2 = NumberAfter(name, "_l2_", 0)});
  if (is("proximal_sgd"))
    return ProximalGradientDescentOptimizer(rate, NumberAfter(name, "_l1_", 0), NumberAfter(name, "_l2_", 0));
  if (is("lars")) return LarsNamed(name, rate);
  throw Unimplemented("no optimizer for the golden row " + name);
}

template <typename T>
Tensor Row(const json& values) {
  const std::vector<T> numbers = values;
  return Tensor::Of<T>(Shape{static_cast<int64_t>(numbers.size())}, std::span<const T>(numbers));
}

// One variable that is updated from gradients fed in.
template <typename T>
class Fixture {
 public:
  Fixture(const json& table, const std::string& backend) : backend_(backend) {
    const Tensor w0 = Row<T>(table["w0"]);
    gradient_ = ops::Placeholder(scope_, DTypeOf<T>(), w0.shape());
    w_ = ops::MakeVariable(scope_, "w", ops::Const(scope_, w0));
  }

  void Start() {
    session_ = std::make_unique<Session>(&graph_, SessionOptions{.intra_op_threads = 1, .backend = backend_});
    session_->Initialize();
  }

  Graph graph_;
  Scope scope_{&graph_};
  Output gradient_;
  Variable w_;
  std::string backend_;
  std::unique_ptr<Session> session_;
};

template <typename T>
void ExpectNear(const Tensor& actual, const json& expected, double absolute, double relative, const std::string& what) {
  const auto values = actual.data<T>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i) {
    const double wanted = expected[i];
    EXPECT_NEAR(values[i], wanted, absolute + relative * std::abs(wanted)) << what << ", element " << i;
  }
}

template <typename T>
void ExpectOptimizerFollows(const json& table, const std::string& name, const std::string& backend) {
  constexpr bool kWide = sizeof(T) == 8;
  const json& row = table["optimizers"][name];
  const char* key = kWide ? "w_after_step_float64" : "w_after_step_float32";
  EXPECT_TRUE(row.contains("w_after_step_float64") || row.contains("w_after_step_float32"))
      << name << " lists no weights";
  if (!row.contains(key)) return;
  SCOPED_TRACE(name + " on " + backend + (kWide ? " in float64" : " in float32"));
  Fixture<T> fixture(table, backend);
  const auto optimizer = OptimizerNamed(name, table["learning_rate"]);
  const NodeId train = optimizer->ApplyGradients(fixture.scope_, {{fixture.gradient_, fixture.w_}});
  fixture.Start();
  // The README's in float32. In float64 all rows agree closely but the two that were not computed in it throughout.
  const bool carries_large_column = name.find("momentum") == 0 || name.find("nesterov") == 0;
  const bool is_exact = kWide && name.find("lars") != 0 && name.find("proximal") != 0;
  const double tolerance = is_exact ? 1e-9 : carries_large_column ? 2e-5 : 2e-6;
  for (size_t t = 0; t < table["gradients"].size(); ++t) {
    fixture.session_->Run({{fixture.gradient_, Row<T>(table["gradients"][t])}}, {}, {train});
    ExpectNear<T>(fixture.session_->ReadVariable(fixture.w_), row[key][t], tolerance, is_exact ? 0 : kFloat32Step,
                  "w after step " + std::to_string(t + 1));
  }
  if (kWide || !row.contains("final_slots_float32")) return;
  const json& slots = row["final_slots_float32"];
  for (const auto& [slot, values] : slots.items())
    ExpectNear<T>(fixture.session_->ReadVariable(optimizer->Slot(fixture.w_, slot)), values, 2e-6, 2e-6,
                  "slot " + slot);
}

TEST(GoldenOptimizers, EachOneFollowsTensorFlowOnEveryBackendAndInBothPrecisions) {
  const json table = testing::GoldenJson("optimizers.json");
  for (const auto& [name, row] : table["optimizers"].items()) {
    ExpectOptimizerFollows<float>(table, name, "reference");
    ExpectOptimizerFollows<float>(table, name, "cpu");
    ExpectOptimizerFollows<double>(table, name, "reference");
  }
}

TEST(GoldenOptimizers, TheMovingAverageFollowsTheWeightsThatEachStepLeaves) {
  const json table = testing::GoldenJson("optimizers.json");
  for (const char* backend : {"reference", "cpu"}) {
    SCOPED_TRACE(backend);
    Fixture<float> fixture(table, backend);
    const Variable step = GlobalStep(fixture.scope_);
    // Read before the step rises: the first update has number 0.
    const Output num_updates = ops::Cast(fixture.scope_, step, DType::kFloat32);
    const NodeId train = GradientDescentOptimizer(table["learning_rate"].get<double>())
                             ->ApplyGradients(fixture.scope_, {{fixture.gradient_, fixture.w_}}, step);
    ExponentialMovingAverage average(0.9999, num_updates);
    const NodeId update = average.Apply(fixture.scope_.WithControlDependencies({train}), {fixture.w_});
    fixture.Start();
    const json& expected = table["moving_average"]["shadow_after_step"];
    for (size_t t = 0; t < expected.size(); ++t) {
      fixture.session_->Run({{fixture.gradient_, Row<float>(table["gradients"][t])}}, {}, {update});
      ExpectNear<float>(fixture.session_->ReadVariable(average.Average(fixture.w_)), expected[t], 2e-6, 1e-6,
                        "shadow after step " + std::to_string(t + 1));
    }
  }
}

}  // namespace
}  // namespace muster
