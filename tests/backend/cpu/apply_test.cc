#include <cmath>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

// One element of the variable and its slots, and the update written down as in TensorFlow's documentation.
struct Element {
  double var, s0, s1, s2, grad;
};

struct Rule {
  const char* name;
  OpKind kind;
  bool nesterov;
  int slots;
  // The operation's inputs behind var and slots: scalars, with NaN where the gradient stands.
  std::vector<float> scalars;
  std::function<void(Element&)> update;
};

void PrintTo(const Rule& r, std::ostream* os) { *os << r.name; }

const float kGrad = std::nanf("");
double Sq(double x) { return x * x; }

const Rule kRules[] = {
    {"gradient_descent",
     OpKind::kApplyGradientDescent,
     false,
     0,
     {0.1f, kGrad},
     [](Element& e) { e.var -= 0.1 * e.grad; }},
    {"momentum",
     OpKind::kApplyMomentum,
     false,
     1,
     {0.1f, kGrad, 0.9f},
     [](Element& e) { e.s0 = 0.9 * e.s0 + e.grad, e.var -= 0.1 * e.s0; }},
    {"nesterov",
     OpKind::kApplyMomentum,
     true,
     1,
     {0.1f, kGrad, 0.9f},
     [](Element& e) { e.s0 = 0.9 * e.s0 + e.grad, e.var -= 0.1 * (e.grad + 0.9 * e.s0); }},
    {"rmsprop",
     OpKind::kApplyRMSProp,
     false,
     2,
     {0.1f, 0.8f, 0.7f, 0.5f, kGrad},
     [](Element& e) {
       e.s0 = 0.8 * e.s0 + 0.2 * Sq(e.grad);
       e.s1 = 0.7 * e.s1 + 0.1 * e.grad / std::sqrt(e.s0 + 0.5);
       e.var -= e.s1;
     }},
    {"centered_rmsprop",
     OpKind::kApplyCenteredRMSProp,
     false,
     3,
     {0.1f, 0.8f, 0.7f, 1.5f, kGrad},
     [](Element& e) {
       e.s0 = 0.8 * e.s0 + 0.2 * e.grad;
       e.s1 = 0.8 * e.s1 + 0.2 * Sq(e.grad);
       e.s2 = 0.7 * e.s2 + 0.1 * e.grad / std::sqrt(e.s1 - Sq(e.s0) + 1.5);
       e.var -= e.s2;
     }},
    {"adam",
     OpKind::kApplyAdam,
     false,
     2,
     {0.81f, 0.98f, 0.1f, 0.9f, 0.99f, 0.1f, kGrad},
     [](Element& e) {
       e.s0 = 0.9 * e.s0 + 0.1 * e.grad, e.s1 = 0.99 * e.s1 + 0.01 * Sq(e.grad);
       e.var -= 0.1 * std::sqrt(1 - 0.98) / (1 - 0.81) * e.s0 / (std::sqrt(e.s1) + 0.1);
     }},
    {"adamax",
     OpKind::kApplyAdaMax,
     false,
     2,
     {0.81f, 0.1f, 0.9f, 0.99f, 0.1f, kGrad},
     [](Element& e) {
       e.s0 = 0.9 * e.s0 + 0.1 * e.grad, e.s1 = std::max(0.99 * e.s1, std::abs(e.grad));
       e.var -= 0.1 / (1 - 0.81) * e.s0 / (e.s1 + 0.1);
     }},
    {"adagrad",
     OpKind::kApplyAdagrad,
     false,
     1,
     {0.1f, kGrad},
     [](Element& e) { e.s0 += Sq(e.grad), e.var -= 0.1 * e.grad / std::sqrt(e.s0); }},
    {"adadelta",
     OpKind::kApplyAdadelta,
     false,
     2,
     {0.1f, 0.8f, 0.5f, kGrad},
     [](Element& e) {
       e.s0 = 0.8 * e.s0 + 0.2 * Sq(e.grad);
       const double update = std::sqrt(e.s1 + 0.5) / std::sqrt(e.s0 + 0.5) * e.grad;
       e.s1 = 0.8 * e.s1 + 0.2 * Sq(update), e.var -= 0.1 * update;
     }},
    {"ftrl",
     OpKind::kApplyFtrl,
     false,
     2,
     {kGrad, 0.1f, 0.3f, 0.2f, -0.5f},
     [](Element& e) {
       const double now = e.s0 + Sq(e.grad);
       e.s1 += e.grad - (std::sqrt(now) - std::sqrt(e.s0)) / 0.1 * e.var;
       e.s0 = now;
       e.var = std::abs(e.s1) > 0.3 ? (std::copysign(0.3, e.s1) - e.s1) / (std::sqrt(now) / 0.1 + 0.4) : 0;
     }},
    {"ftrl_other_power",
     OpKind::kApplyFtrl,
     false,
     2,
     {kGrad, 0.1f, 0.3f, 0.2f, -0.7f},
     [](Element& e) {
       const double now = e.s0 + Sq(e.grad), power = static_cast<double>(0.7f);
       e.s1 += e.grad - (std::pow(now, power) - std::pow(e.s0, power)) / 0.1 * e.var;
       e.s0 = now;
       e.var = std::abs(e.s1) > 0.3 ? (std::copysign(0.3, e.s1) - e.s1) / (std::pow(now, power) / 0.1 + 0.4) : 0;
     }},
    {"proximal", OpKind::kApplyProximalGradientDescent, false, 0, {0.1f, 2.0f, 0.5f, kGrad}, [](Element& e) {
       const double moved = e.var - 0.1 * e.grad;
       e.var = std::copysign(std::max(std::abs(moved) - 0.1 * 2, 0.0), moved) / (1 + 0.1 * 0.5);
     }}};

class Apply : public testing::TestWithParam<std::tuple<Rule, int64_t>> {
 protected:
  const Rule& rule() const { return std::get<0>(GetParam()); }
  int64_t size() const { return std::get<1>(GetParam()); }

  // var, slots, then scalars and the gradient.
  std::vector<Tensor> Inputs(const Tensor& var, const std::vector<Tensor>& slots, const Tensor& grad) const {
    std::vector<Tensor> inputs{var};
    inputs.insert(inputs.end(), slots.begin(), slots.end());
    for (float s : rule().scalars) inputs.push_back(std::isnan(s) ? grad : Tensor::Scalar<float>(s));
    return inputs;
  }
};

TEST_P(Apply, FollowsItsFormula) {
  const Shape shape{size()};
  const Tensor var = Random(shape, 1), grad = Random(shape, 2, -2, 2);
  std::vector<Tensor> slots;
  for (int i = 0; i < rule().slots; ++i) slots.push_back(Random(shape, 3 + static_cast<uint32_t>(i), 0.1f, 1));
  std::vector<Element> elements;
  for (int64_t i = 0; i < size(); ++i) {
    const auto at = [&](size_t s) { return s < slots.size() ? static_cast<double>(slots[s].data<float>()[i]) : 0; };
    elements.push_back(
        {static_cast<double>(var.data<float>()[i]), at(0), at(1), at(2), static_cast<double>(grad.data<float>()[i])});
    rule().update(elements.back());
  }
  RunKernel(rule().kind, ApplyAttrs{rule().nesterov}, Inputs(var, slots, grad), {});
  for (int64_t i = 0; i < size(); ++i) {
    const Element& e = elements[static_cast<size_t>(i)];
    const double expected[] = {e.s0, e.s1, e.s2};
    ASSERT_NEAR(var.data<float>()[i], e.var, 2e-5) << i;
    for (size_t s = 0; s < slots.size(); ++s) ASSERT_NEAR(slots[s].data<float>()[i], expected[s], 2e-5) << i;
  }
}

TEST_P(Apply, WeightDecayAddsToTheGradient) {
  const Shape shape{size()};
  const Tensor var = Random(shape, 1), grad = Random(shape, 2, -2, 2), decayed_var = var.Clone();
  Tensor sum(DType::kFloat32, shape);
  for (int64_t i = 0; i < size(); ++i) sum.data<float>()[i] = grad.data<float>()[i] + 0.25f * var.data<float>()[i];
  std::vector<Tensor> slots, decayed_slots;
  for (int i = 0; i < rule().slots; ++i) {
    slots.push_back(Random(shape, 3 + static_cast<uint32_t>(i), 0.1f, 1));
    decayed_slots.push_back(slots.back().Clone());
  }
  RunKernel(rule().kind, ApplyAttrs{rule().nesterov}, Inputs(var, slots, sum), {});
  std::vector<Tensor> inputs = Inputs(decayed_var, decayed_slots, grad);
  inputs.push_back(Tensor::Scalar<float>(0.25f));
  RunKernel(rule().kind, ApplyAttrs{.use_nesterov = rule().nesterov, .has_weight_decay = true}, inputs, {});
  ExpectNear(decayed_var, var, 1e-6);
}

TEST_P(Apply, KeepsPaddingAtZero) {
  const Shape shape{size()};
  const Tensor var(DType::kFloat32, shape), grad(DType::kFloat32, shape);
  const std::vector<Tensor> slots = [&] {
    std::vector<Tensor> made;
    for (int i = 0; i < rule().slots; ++i) made.emplace_back(DType::kFloat32, shape);
    return made;
  }();
  RunKernel(rule().kind, ApplyAttrs{rule().nesterov}, Inputs(var, slots, grad), {});
  for (float v : var.data<float>()) ASSERT_EQ(v, 0);
  for (const Tensor& slot : slots)
    for (float v : slot.data<float>()) ASSERT_EQ(v, 0);
}

// Rows of 5 bfloat16 values, padded to 16 with zeros: as oneDNN pads filters of few channels.
class PaddedRows final : public OpaqueFormat {
 public:
  static constexpr size_t kRows = 3, kColumns = 5, kPadded = 16;

  const std::string& key() const override { return key_; }
  int64_t byte_size() const override { return kRows * kPadded * sizeof(BFloat16); }
  void Pack(const void* plain, void* packed) const override {
    std::memset(packed, 0, kRows * kPadded * sizeof(BFloat16));
    for (size_t row = 0; row < kRows; ++row) Copy(plain, row * kColumns, packed, row * kPadded);
  }
  void Unpack(const void* packed, void* plain) const override {
    for (size_t row = 0; row < kRows; ++row) Copy(packed, row * kPadded, plain, row * kColumns);
  }

 private:
  static void Copy(const void* from, size_t first, void* to, size_t place) {
    std::memcpy(static_cast<BFloat16*>(to) + place, static_cast<const BFloat16*>(from) + first,
                kColumns * sizeof(BFloat16));
  }

  const std::string key_ = "padded rows";
};

TEST(ApplyInBFloat16, ReachesAllThatAPaddedFormHolds) {
  const Layout layout(std::make_shared<PaddedRows>());
  const TensorDesc desc{DType::kBFloat16, {PaddedRows::kRows, PaddedRows::kColumns}, layout};
  // Of value(i) for element i.
  const auto packed = [&](const std::function<float(size_t)>& value) {
    Tensor plain(DType::kBFloat16, desc.shape), made(desc, Buffer::OnHost(static_cast<size_t>(desc.byte_size())));
    for (size_t i = 0; i < plain.data<BFloat16>().size(); ++i) plain.data<BFloat16>()[i] = ToBFloat16(value(i));
    layout.format()->Pack(plain.raw(), made.raw());
    return made;
  };
  const Tensor half = Tensor::Scalar(ToBFloat16(0.5f));
  const Tensor var = packed([](size_t i) { return static_cast<float>(i); }), slot = packed([](size_t) { return 2.0f; });
  const Tensor grad = packed([](size_t) { return 4.0f; });
  RunKernel(OpKind::kApplyMomentum, ApplyAttrs{}, {var, slot, half, grad, half}, {});
  // slot = slot/2 + grad, var -= slot/2; what is padding stays 0.
  ExpectEqualBits(slot, packed([](size_t) { return 5.0f; }));
  ExpectEqualBits(var, packed([](size_t i) { return static_cast<float>(i) - 2.5f; }));
}

INSTANTIATE_TEST_SUITE_P(Rules, Apply, testing::Combine(testing::ValuesIn(kRules), testing::Values<int64_t>(5, 50003)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace muster::cpu
