#include <gtest/gtest.h>

#include "tests/backend/cpu/kernel_runner.h"

namespace muster::cpu {
namespace {

struct Case {
  const char* name;
  Shape x, filter;  // filter HWIO
  ConvAttrs attrs;
  bool depthwise = false;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

std::array<int64_t, 4> Pads(const Case& c) {
  const ConvAttrs& a = c.attrs;
  if (a.padding == Padding::kExplicit) return a.explicit_paddings;
  std::array<int64_t, 4> pads{};
  if (a.padding == Padding::kValid) return pads;
  for (int i = 0; i < 2; ++i) {
    const size_t s = static_cast<size_t>(i);
    const int64_t in = c.x[1 + i], out = (in + a.strides[s] - 1) / a.strides[s];
    const int64_t total = std::max<int64_t>((out - 1) * a.strides[s] + (c.filter[i] - 1) * a.dilations[s] + 1 - in, 0);
    pads[2 * s] = total / 2, pads[2 * s + 1] = total - total / 2;
  }
  return pads;
}

Shape OutShape(const Case& c) {
  const auto pads = Pads(c);
  const auto size = [&](int i) {
    const size_t s = static_cast<size_t>(i);
    return (c.x[1 + i] + pads[2 * s] + pads[2 * s + 1] - (c.filter[i] - 1) * c.attrs.dilations[s] - 1) /
               c.attrs.strides[s] +
           1;
  };
  return {c.x[0], size(0), size(1), c.depthwise ? c.filter[2] * c.filter[3] : c.filter[3]};
}

// Calls visit(x index, filter index, y index) for every product that the convolution sums, straight from its
// definition.
template <typename Visit>
void ForEachProduct(const Case& c, const Visit& visit) {
  const Shape y = OutShape(c);
  const auto pads = Pads(c);
  const int64_t per_group_in = c.depthwise ? 1 : c.filter[2], groups = c.x[3] / per_group_in,
                per_group_out = y[3] / groups;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t i = 0; i < y[1]; ++i)
      for (int64_t j = 0; j < y[2]; ++j)
        for (int64_t o = 0; o < y[3]; ++o)
          for (int64_t h = 0; h < c.filter[0]; ++h)
            for (int64_t w = 0; w < c.filter[1]; ++w) {
              const int64_t row = i * c.attrs.strides[0] + h * c.attrs.dilations[0] - pads[0];
              const int64_t col = j * c.attrs.strides[1] + w * c.attrs.dilations[1] - pads[2];
              if (row < 0 || row >= c.x[1] || col < 0 || col >= c.x[2]) continue;
              for (int64_t k = 0; k < per_group_in; ++k)
                visit(((n * c.x[1] + row) * c.x[2] + col) * c.x[3] + o / per_group_out * per_group_in + k,
                      ((h * c.filter[1] + w) * per_group_in + k) * y[3] + o, ((n * y[1] + i) * y[2] + j) * y[3] + o);
            }
}

class Conv : public testing::TestWithParam<std::tuple<Case, bool>> {
 protected:
  const Case& c() const { return std::get<0>(GetParam()); }
  RunOptions options() const { return {.use_wishes = std::get<1>(GetParam())}; }
  Tensor x() const { return Random(c().x, 1); }
  Tensor filter() const { return Random(c().filter, 2); }
  Tensor dy() const { return Random(OutShape(c()), 3); }
  OpKind Kind(OpKind dense, OpKind depthwise) const { return c().depthwise ? depthwise : dense; }
};

Tensor FromDoubles(const Shape& shape, const std::vector<double>& values) {
  Tensor tensor(DType::kFloat32, shape);
  std::ranges::transform(values, tensor.data<float>().begin(), [](double v) { return static_cast<float>(v); });
  return tensor;
}

std::vector<double> Zeros(const Shape& shape) { return std::vector<double>(static_cast<size_t>(shape.num_elements())); }

TEST_P(Conv, ForwardSumsItsWindow) {
  const Tensor a = x(), f = filter();
  auto y = Zeros(OutShape(c()));
  ForEachProduct(c(), [&](int64_t i, int64_t k, int64_t o) {
    y[static_cast<size_t>(o)] += static_cast<double>(a.data<float>()[i]) * static_cast<double>(f.data<float>()[k]);
  });
  const auto out = RunKernel(Kind(OpKind::kConv2D, OpKind::kDepthwiseConv2dNative), c().attrs, {a, f},
                             {F32(OutShape(c()))}, options());
  ExpectNear(out[0], FromDoubles(OutShape(c()), y), 2e-5);
}

TEST_P(Conv, InputGradientIsTheTransposedSum) {
  const Tensor g = dy(), f = filter();
  auto dx = Zeros(c().x);
  ForEachProduct(c(), [&](int64_t i, int64_t k, int64_t o) {
    dx[static_cast<size_t>(i)] += static_cast<double>(g.data<float>()[o]) * static_cast<double>(f.data<float>()[k]);
  });
  const auto out = RunKernel(Kind(OpKind::kConv2DBackpropInput, OpKind::kDepthwiseConv2dNativeBackpropInput), c().attrs,
                             {f, g}, {F32(c().x)}, options());
  ExpectNear(out[0], FromDoubles(c().x, dx), 2e-5);
}

TEST_P(Conv, FilterGradientSumsOverTheBatch) {
  const Tensor a = x(), g = dy();
  auto df = Zeros(c().filter);
  ForEachProduct(c(), [&](int64_t i, int64_t k, int64_t o) {
    df[static_cast<size_t>(k)] += static_cast<double>(a.data<float>()[i]) * static_cast<double>(g.data<float>()[o]);
  });
  const auto out = RunKernel(Kind(OpKind::kConv2DBackpropFilter, OpKind::kDepthwiseConv2dNativeBackpropFilter),
                             c().attrs, {a, g}, {F32(c().filter)}, options());
  ExpectNear(out[0], FromDoubles(c().filter, df), 1e-4);
}

TEST_P(Conv, FusedBiasAndReluFollowTheSum) {
  if (c().depthwise) GTEST_SKIP() << "only Conv2D is fused";
  const Tensor a = x(), f = filter(), bias = Random({OutShape(c())[3]}, 4);
  ConvAttrs attrs = c().attrs;
  Tensor expected = RunKernel(OpKind::kConv2D, attrs, {a, f}, {F32(OutShape(c()))}, options())[0];
  attrs.activation = Activation::kRelu;
  size_t i = 0;
  for (float& v : expected.data<float>()) v = std::max(v + bias.data<float>()[i++ % bias.data<float>().size()], 0.0f);
  const auto out = RunKernel(OpKind::k_FusedConv2D, attrs, {a, f, bias}, {F32(OutShape(c()))}, options());
  ExpectNear(out[0], expected, 1e-5);
}

TEST_P(Conv, FusedFilterGradientGivesTheBiasGradientToo) {
  if (c().depthwise) GTEST_SKIP() << "only Conv2D is fused";
  const Tensor a = x(), g = dy();
  const int64_t channels = OutShape(c())[3];
  auto db = Zeros({channels});
  for (size_t i = 0; i < g.data<float>().size(); ++i) db[i % db.size()] += static_cast<double>(g.data<float>()[i]);
  const auto plain = RunKernel(OpKind::kConv2DBackpropFilter, c().attrs, {a, g}, {F32(c().filter)}, options());
  const auto fused =
      RunKernel(OpKind::k_FusedConv2DBackpropFilter, c().attrs, {a, g}, {F32(c().filter), F32({channels})}, options());
  ExpectNear(fused[0], plain[0], 1e-5);
  ExpectNear(fused[1], FromDoubles({channels}, db), 1e-4);
}

ConvAttrs Attrs(std::array<int64_t, 2> strides, Padding padding, std::array<int64_t, 2> dilations = {1, 1},
                std::array<int64_t, 4> pads = {}) {
  return {.strides = strides, .dilations = dilations, .padding = padding, .explicit_paddings = pads};
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Conv,
    testing::Combine(
        testing::Values(
            Case{"same3x3", {2, 9, 7, 16}, {3, 3, 16, 32}, Attrs({1, 1}, Padding::kSame)},
            Case{"pointwise", {3, 5, 6, 24}, {1, 1, 24, 40}, Attrs({1, 1}, Padding::kSame)},
            Case{"pointwise_stride2", {2, 8, 8, 16}, {1, 1, 16, 32}, Attrs({2, 2}, Padding::kSame)},
            Case{"pointwise_stride2by3_odd", {2, 7, 9, 16}, {1, 1, 16, 32}, Attrs({2, 3}, Padding::kSame)},
            Case{"pointwise_stride3_valid", {2, 8, 9, 8}, {1, 1, 8, 24}, Attrs({3, 3}, Padding::kValid)},
            Case{"first_layer", {2, 23, 23, 3}, {7, 7, 3, 64}, Attrs({2, 2}, Padding::kSame)},
            Case{"one_channel", {4, 28, 28, 1}, {5, 5, 1, 32}, Attrs({1, 1}, Padding::kSame)},
            Case{"odd_channels", {1, 6, 5, 5}, {3, 2, 5, 7}, Attrs({1, 1}, Padding::kValid)},
            Case{"stride2_even", {2, 8, 10, 32}, {3, 3, 32, 16}, Attrs({2, 2}, Padding::kSame)},
            Case{"asymmetric", {1, 7, 7, 8}, {3, 3, 8, 16}, Attrs({2, 2}, Padding::kExplicit, {1, 1}, {0, 1, 1, 0})},
            Case{"dilated", {1, 12, 11, 16}, {3, 3, 16, 16}, Attrs({1, 1}, Padding::kSame, {2, 3})},
            Case{"rectangular", {2, 8, 9, 16}, {1, 7, 16, 48}, Attrs({1, 1}, Padding::kSame)},
            Case{"grouped", {2, 6, 6, 32}, {3, 3, 8, 64}, Attrs({1, 1}, Padding::kSame)},
            Case{"depthwise", {2, 9, 9, 32}, {3, 3, 32, 1}, Attrs({1, 1}, Padding::kSame), true},
            Case{"depthwise_multiplied", {2, 9, 9, 5}, {3, 3, 5, 3}, Attrs({2, 2}, Padding::kSame), true}),
        testing::Bool()),
    [](const auto& info) {
      return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) ? "_own_layout" : "_plain");
    });

TEST(ConvOfNothing, GivesNothingForwardAndZerosBackward) {
  const ConvAttrs attrs = Attrs({1, 1}, Padding::kSame);
  const Tensor x(DType::kFloat32, {0, 4, 4, 3}), dy(DType::kFloat32, {0, 4, 4, 2});
  EXPECT_EQ(RunKernel(OpKind::kConv2D, attrs, {x, Random({3, 3, 3, 2}, 1)}, {F32({0, 4, 4, 2})})[0].byte_size(), 0u);
  const auto df = RunKernel(OpKind::kConv2DBackpropFilter, attrs, {x, dy}, {F32({3, 3, 3, 2})});
  for (float v : df[0].data<float>()) EXPECT_EQ(v, 0);
}

TEST(ConvLayout, GradientsShareTheVariablesFormWhereItCostsNothing) {
  // Whatever form the forward pass likes, packing and unpacking must bring each element back, padding included.
  for (const Shape& filter : {Shape{3, 3, 5, 7}, Shape{7, 7, 3, 64}, Shape{1, 1, 64, 256}}) {
    const Tensor x = Random({1, 9, 9, filter[2]}, 1), f = Random(filter, 2);
    const ConvAttrs attrs = Attrs({1, 1}, Padding::kSame);
    const auto plain = RunKernel(OpKind::kConv2D, attrs, {x, f}, {F32({1, 9, 9, filter[3]})});
    const auto own = RunKernel(OpKind::kConv2D, attrs, {x, f}, {F32({1, 9, 9, filter[3]})}, {.use_wishes = true});
    ExpectNear(own[0], plain[0], 1e-5);
  }
}

}  // namespace
}  // namespace muster::cpu
