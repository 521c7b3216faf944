#include <cmath>

#include <gtest/gtest.h>

#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

constexpr double kEpsilon = 1e-3;

struct Case {
  const char* name;
  Shape x;
  bool relu, side;
  DType dtype = DType::kFloat32;  // of the activations; what belongs to a channel is float32
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

// Batch normalisation by its definition, in double precision.
struct Expected {
  int64_t channels, rows;
  std::vector<double> mean, variance, y;

  double inv_std(size_t c) const { return 1 / std::sqrt(variance[c] + kEpsilon); }

  Expected(const Tensor& x, const Tensor& scale, const Tensor& offset, const Tensor* side, bool relu)
      : channels(scale.desc().shape[0]),
        rows(x.desc().shape.num_elements() / channels),
        mean(static_cast<size_t>(channels)),
        variance(mean),
        y(x.data<float>().size()) {
    const auto values = x.data<float>();
    const size_t n = mean.size();
    for (size_t i = 0; i < y.size(); ++i) mean[i % n] += static_cast<double>(values[i]) / static_cast<double>(rows);
    for (size_t i = 0; i < y.size(); ++i)
      variance[i % n] += std::pow(static_cast<double>(values[i]) - mean[i % n], 2) / static_cast<double>(rows);
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t c = i % n;
      y[i] = (static_cast<double>(values[i]) - mean[c]) * inv_std(c) * static_cast<double>(scale.data<float>()[c]) +
             static_cast<double>(offset.data<float>()[c]);
      if (side != nullptr) y[i] += static_cast<double>(side->data<float>()[i]);
      if (relu) y[i] = std::max(y[i], 0.0);
    }
  }
};

Tensor Floats(const Shape& shape, const std::vector<double>& values) {
  Tensor tensor(DType::kFloat32, shape);
  std::ranges::transform(values, tensor.data<float>().begin(), [](double v) { return static_cast<float>(v); });
  return tensor;
}

// The tensors are float32; a case in bfloat16 has values that bfloat16 holds, which kernels get as such.
class BatchNorm : public testing::TestWithParam<Case> {
 protected:
  static bool IsHalf() { return GetParam().dtype == DType::kBFloat16; }
  static Tensor Activation(uint32_t seed, float low = -1, float high = 1) {
    const Tensor values = Random(GetParam().x, seed, low, high);
    return IsHalf() ? AsFloat32(AsBFloat16(values)) : values;
  }
  static Tensor Given(const Tensor& activation) { return IsHalf() ? AsBFloat16(activation) : activation; }
  // To single precision, or to half a bfloat16's last place.
  static double Tolerance(double single) { return IsHalf() ? 0x1p-8 : single; }
  TensorDesc ActivationDesc() const { return {GetParam().dtype, shape(), {}}; }

  const Shape& shape() const { return GetParam().x; }
  int64_t channels() const { return shape()[3]; }
  int64_t rows() const { return shape().num_elements() / channels(); }
  Shape c() const { return {channels()}; }
  BatchNormAttrs attrs(bool training = true) const {
    return {.epsilon = kEpsilon,
            .is_training = training,
            .activation = GetParam().relu ? Activation::kRelu : Activation::kNone,
            .has_side_input = GetParam().side};
  }
  std::vector<TensorDesc> ForwardOutputs() const { return {ActivationDesc(), F32(c()), F32(c()), F32(c()), F32(c())}; }

  std::vector<Tensor> ForwardInputs() const {
    std::vector<Tensor> in{Given(x), scale, offset, Random(c(), 6), Random(c(), 7, 0.5f, 2)};
    if (GetParam().side) in.push_back(Given(side));
    return in;
  }
  std::vector<Tensor> Forward(int threads = 2) const {
    return RunKernel(OpKind::k_FusedBatchNormEx, attrs(), ForwardInputs(), ForwardOutputs(), {.threads = threads});
  }
  std::vector<Tensor> Backward(const std::vector<Tensor>& forward, int threads = 2) const {
    std::vector<TensorDesc> outputs{ActivationDesc(), F32(c()), F32(c())};
    if (GetParam().side) outputs.push_back(ActivationDesc());
    return RunKernel(OpKind::k_FusedBatchNormGradEx, attrs(),
                     {Given(dy), Given(x), scale, forward[3], forward[4], offset, forward[0]}, outputs,
                     {.threads = threads});
  }

  Tensor x = Activation(1, -1, 3), scale = Random(c(), 2, -2, 2), offset = Random(c(), 3), side = Activation(4);
  Tensor dy = Activation(5);
  Expected expected{x, scale, offset, GetParam().side ? &side : nullptr, GetParam().relu};
};

TEST_P(BatchNorm, NormalisesWithTheStatisticsOfTheBatch) {
  const auto out = Forward();
  ExpectNear(AsFloat32(out[0]), Floats(shape(), expected.y), Tolerance(1e-5));
  ExpectNear(out[1], Floats(c(), expected.mean), 1e-6);
  std::vector<double> unbiased = expected.variance, inv_std;
  for (size_t i = 0; i < unbiased.size(); ++i) inv_std.push_back(expected.inv_std(i));
  for (double& v : unbiased) v *= static_cast<double>(rows()) / static_cast<double>(std::max<int64_t>(rows() - 1, 1));
  ExpectNear(out[2], Floats(c(), unbiased), 1e-5);
  ExpectNear(out[3], Floats(c(), expected.mean), 1e-6);
  ExpectNear(out[4], Floats(c(), inv_std), 1e-5);
}

TEST_P(BatchNorm, GradientsFollowTheDefinition) {
  const auto forward = Forward();
  const auto out = Backward(forward);
  const Tensor y = AsFloat32(forward[0]);
  const size_t n = static_cast<size_t>(channels());
  std::vector<double> g(x.data<float>().size()), dscale(n), doffset(n), dx(g.size());
  const auto xhat = [&](size_t i) {
    return (static_cast<double>(x.data<float>()[i]) - expected.mean[i % n]) * expected.inv_std(i % n);
  };
  for (size_t i = 0; i < g.size(); ++i) {
    g[i] = GetParam().relu && !(y.data<float>()[i] > 0) ? 0 : static_cast<double>(dy.data<float>()[i]);
    dscale[i % n] += g[i] * xhat(i);
    doffset[i % n] += g[i];
  }
  for (size_t i = 0; i < g.size(); ++i) {
    const size_t k = i % n;
    dx[i] = static_cast<double>(scale.data<float>()[k]) * expected.inv_std(k) *
            (g[i] - (doffset[k] + xhat(i) * dscale[k]) / static_cast<double>(rows()));
  }
  ExpectNear(AsFloat32(out[0]), Floats(shape(), dx), Tolerance(2e-5));
  ExpectNear(out[1], Floats(c(), dscale), 1e-4);
  ExpectNear(out[2], Floats(c(), doffset), 1e-4);
  if (GetParam().side) ExpectNear(AsFloat32(out[3]), Floats(shape(), g), 0);
}

TEST_P(BatchNorm, GivesTheSameBitsWithAnyNumberOfThreads) {
  const auto one = Forward(1), two = Forward(2), three = Forward(3);
  const auto back_one = Backward(one, 1), back_two = Backward(one, 2);
  for (size_t i = 0; i < one.size(); ++i) ExpectEqualBits(one[i], two[i]), ExpectEqualBits(one[i], three[i]);
  for (size_t i = 0; i < back_one.size(); ++i) ExpectEqualBits(back_one[i], back_two[i]);
}

TEST_P(BatchNorm, IsRedoneFromItsStatisticsWithTheSameBits) {
  const auto forward = Forward();
  auto in = ForwardInputs();
  in[3] = forward[3], in[4] = forward[4];
  const auto again = RunKernel(OpKind::k_FusedBatchNormEx, attrs(), in, {ActivationDesc()}, {.threads = 2});
  ExpectEqualBits(again[0], forward[0]);
}

TEST_P(BatchNorm, InferenceUsesTheGivenStatistics) {
  const auto in = ForwardInputs();
  const auto out = RunKernel(OpKind::k_FusedBatchNormEx, attrs(false), in, ForwardOutputs());
  std::vector<double> y(x.data<float>().size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t k = i % static_cast<size_t>(channels());
    const auto at = [](const Tensor& tensor, size_t j) { return static_cast<double>(tensor.data<float>()[j]); };
    y[i] = (at(x, i) - at(in[3], k)) / std::sqrt(at(in[4], k) + kEpsilon) * at(scale, k) + at(offset, k);
    if (GetParam().side) y[i] += at(side, i);
    if (GetParam().relu) y[i] = std::max(y[i], 0.0);
  }
  ExpectNear(AsFloat32(out[0]), Floats(shape(), y), Tolerance(1e-5));
  ExpectEqualBits(out[1], in[3]);
  ExpectEqualBits(out[2], in[4]);
}

// Sizes below one vector, odd, exactly one, folded; one piece and many; outputs beyond the streaming threshold. In
// bfloat16 two vectors make one store, and all three ways to know where ReLU let values through have loops of their
// own.
INSTANTIATE_TEST_SUITE_P(
    Cases, BatchNorm,
    testing::Values(Case{"tiny", {1, 1, 3, 5}, false, false}, Case{"one_row", {1, 1, 1, 8}, true, false},
                    Case{"three_channels", {4, 17, 13, 3}, true, true},
                    Case{"sixteen_channels", {8, 16, 16, 16}, true, false},
                    Case{"odd_channels", {3, 9, 7, 37}, true, true}, Case{"many_channels", {8, 7, 7, 512}, true, false},
                    Case{"many_odd_channels", {4, 7, 7, 515}, false, true}, Case{"wide", {4, 56, 56, 96}, true, true},
                    Case{"wide_plain", {4, 56, 56, 64}, false, false},
                    Case{"half_three_channels", {4, 17, 13, 3}, false, false, DType::kBFloat16},
                    Case{"half_odd_channels", {3, 9, 7, 37}, true, false, DType::kBFloat16},
                    Case{"half_three_vectors", {2, 5, 3, 48}, true, true, DType::kBFloat16},
                    Case{"half_many_channels", {8, 7, 7, 512}, false, true, DType::kBFloat16},
                    Case{"half_wide", {8, 56, 56, 96}, true, false, DType::kBFloat16},
                    Case{"half_wide_side", {8, 56, 56, 96}, true, true, DType::kBFloat16}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(BatchNormStatistics, KeepTheirDigitsFarFromZero) {
  // Mean 10,000, deviation 1, and a first element that is far off: sums of squares around 0 or around it would lose
  // all.
  const Shape shape{4, 32, 32, 8};
  Tensor x = Random(shape, 1, 9999, 10001);
  x.data<float>()[0] = 0;
  const Tensor scale = Tensor::Of<float>({8}, {1, 1, 1, 1, 1, 1, 1, 1}), offset(DType::kFloat32, {8});
  const Expected expected(x, scale, offset, nullptr, false);
  const auto out = RunKernel(OpKind::kFusedBatchNorm, BatchNormAttrs{.epsilon = kEpsilon},
                             {x, scale, offset, offset, offset}, {F32(shape), F32({8}), F32({8}), F32({8}), F32({8})});
  for (size_t c = 0; c < 8; ++c) {
    EXPECT_NEAR(out[1].data<float>()[c], expected.mean[c], 2e-3) << c;
    EXPECT_NEAR(out[2].data<float>()[c] / (expected.variance[c] * 4096 / 4095), 1, 1e-4) << c;
  }
}

TEST(BatchNormNan, ReachesTheOutputThroughTheRelu) {
  const Shape shape{1, 2, 2, 4};
  Tensor x = Random(shape, 1);
  x.data<float>()[5] = std::nanf("");
  const Tensor ones = Tensor::Of<float>({4}, {1, 1, 1, 1});
  const auto out = RunKernel(OpKind::k_FusedBatchNormEx, BatchNormAttrs{.activation = Activation::kRelu},
                             {x, ones, ones, ones, ones}, {F32(shape), F32({4}), F32({4}), F32({4}), F32({4})});
  EXPECT_TRUE(std::isnan(out[0].data<float>()[5]));
  EXPECT_FALSE(std::isnan(out[0].data<float>()[4]));
}

}  // namespace
}  // namespace muster::cpu
