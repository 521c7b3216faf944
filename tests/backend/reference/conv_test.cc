// The convolution kernels against their definition: one loop over all products of an input, a filter and an output
// element.
#include <cmath>

#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "graph/ops/window.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

using testing::RandomTensor;
using testing::RunOp;
using testing::ToDoubles;

struct ConvCase {
  const char* what;
  Shape x, filter;
  ConvAttrs attrs;
};

// Calls term(i, j, k) for every product x[i]*w[j] that belongs to y[k].
template <typename F>
void ForEachTerm(const ConvGeometry& g, F term) {
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t oy = 0; oy < g.h.output; ++oy)
      for (int64_t ox = 0; ox < g.w.output; ++ox)
        for (int64_t kh = 0; kh < g.h.size; ++kh)
          for (int64_t kw = 0; kw < g.w.size; ++kw) {
            const int64_t iy = oy * g.h.stride - g.h.pad_before + kh * g.h.dilation;
            const int64_t ix = ox * g.w.stride - g.w.pad_before + kw * g.w.dilation;
            if (iy < 0 || iy >= g.h.input || ix < 0 || ix >= g.w.input) continue;
            for (int64_t oc = 0; oc < g.out_channels; ++oc)
              for (int64_t ic = 0; ic < g.group_in(); ++ic)
                term(((n * g.h.input + iy) * g.w.input + ix) * g.in_channels + oc / g.group_out() * g.group_in() + ic,
                     ((kh * g.w.size + kw) * g.group_in() + ic) * g.out_channels + oc,
                     ((n * g.h.output + oy) * g.w.output + ox) * g.out_channels + oc);
          }
}

void ExpectClose(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance,
                 const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << what << " at " << i;
}

struct Kinds {
  OpKind forward, backprop_input, backprop_filter;
  ConvGeometry (*geometry)(const Shape&, const Shape&, const ConvAttrs&);
};
constexpr Kinds kConv{OpKind::kConv2D, OpKind::kConv2DBackpropInput, OpKind::kConv2DBackpropFilter, Conv2DGeometry};
constexpr Kinds kDepthwise{OpKind::kDepthwiseConv2dNative, OpKind::kDepthwiseConv2dNativeBackpropInput,
                           OpKind::kDepthwiseConv2dNativeBackpropFilter, DepthwiseGeometry};

void CheckAgainstDefinition(const Kinds& kinds, const ConvCase& c, DType dtype, double tolerance) {
  SCOPED_TRACE(c.what);
  const ConvGeometry g = kinds.geometry(c.x, c.filter, c.attrs);
  const Shape y_shape = ImageShape(g.output(), DataFormat::kNHWC);
  const Tensor x = RandomTensor(dtype, c.x, 1), w = RandomTensor(dtype, c.filter, 2),
               dy = RandomTensor(dtype, y_shape, 3);
  const auto xs = ToDoubles(x), ws = ToDoubles(w), dys = ToDoubles(dy);
  std::vector<double> ys(dys.size()), dxs(xs.size()), dws(ws.size());
  ForEachTerm(g, [&](int64_t i, int64_t j, int64_t k) {
    const auto xi = static_cast<size_t>(i), wj = static_cast<size_t>(j), yk = static_cast<size_t>(k);
    ys[yk] += xs[xi] * ws[wj];
    dxs[xi] += dys[yk] * ws[wj];
    dws[wj] += dys[yk] * xs[xi];
  });
  const KernelTable& table = ReferenceTable();
  ExpectClose(ToDoubles(RunOp(table, {kinds.forward, c.attrs, {x, w}})[0]), ys, tolerance, "y");
  ConvAttrs attrs = c.attrs;
  attrs.target_shape = c.x;
  ExpectClose(ToDoubles(RunOp(table, {kinds.backprop_input, attrs, {w, dy}})[0]), dxs, tolerance, "dx");
  attrs.target_shape = c.filter;
  ExpectClose(ToDoubles(RunOp(table, {kinds.backprop_filter, attrs, {x, dy}})[0]), dws, tolerance, "dw");
}

const ConvCase kConvCases[] = {
    {"one pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {}},
    {"odd sizes, SAME", {2, 7, 5, 3}, {3, 2, 3, 5}, {}},
    {"VALID, strides differ", {2, 9, 11, 4}, {3, 3, 4, 6}, {.strides = {2, 3}, .padding = Padding::kValid}},
    {"stride skips cells", {1, 8, 9, 3}, {1, 1, 3, 4}, {.strides = {2, 2}}},
    {"stride wider than the window", {1, 10, 10, 2}, {2, 2, 2, 3}, {.strides = {3, 4}}},
    {"dilated", {2, 10, 9, 3}, {3, 3, 3, 4}, {.dilations = {2, 3}}},
    {"dilated and strided", {1, 12, 13, 2}, {3, 3, 2, 4}, {.strides = {2, 2}, .dilations = {2, 3}}},
    {"explicit padding",
     {1, 8, 8, 3},
     {7, 7, 3, 4},
     {.strides = {2, 2}, .padding = Padding::kExplicit, .explicit_paddings = {3, 3, 2, 4}}},
    {"three groups", {2, 6, 6, 6}, {3, 3, 2, 9}, {}},
    {"one group per channel", {2, 6, 5, 4}, {3, 3, 1, 8}, {.strides = {2, 1}}},
    {"more rows, columns and depth than one block", {2, 10, 11, 70}, {2, 2, 70, 264}, {}},
};

TEST(ReferenceConv, EqualsItsDefinitionInFloat64) {
  for (const ConvCase& c : kConvCases) CheckAgainstDefinition(kConv, c, DType::kFloat64, 1e-12);
}

TEST(ReferenceConv, Float32IsSummedInDouble) {
  for (const ConvCase& c : kConvCases) CheckAgainstDefinition(kConv, c, DType::kFloat32, 1e-7);
}

TEST(ReferenceConv, DepthwiseEqualsItsDefinition) {
  const ConvCase cases[] = {
      {"one filter per channel", {2, 8, 7, 4}, {3, 3, 4, 1}, {}},
      {"multiplier 3, strided", {2, 8, 7, 4}, {3, 2, 4, 3}, {.strides = {2, 2}}},
      {"dilated, VALID", {1, 9, 9, 2}, {3, 3, 2, 2}, {.dilations = {2, 2}, .padding = Padding::kValid}},
  };
  for (const ConvCase& c : cases) {
    CheckAgainstDefinition(kDepthwise, c, DType::kFloat64, 1e-12);
    CheckAgainstDefinition(kDepthwise, c, DType::kFloat32, 1e-7);
  }
}

TEST(ReferenceConv, FusedFormsEqualTheirParts) {
  const Tensor x = RandomTensor(DType::kFloat64, {2, 6, 6, 4}, 1), w = RandomTensor(DType::kFloat64, {3, 3, 2, 6}, 2);
  const Tensor bias = RandomTensor(DType::kFloat64, {6}, 3);
  const KernelTable& table = ReferenceTable();
  const Tensor y = RunOp(table, {OpKind::kConv2D, ConvAttrs{}, {x, w}})[0];
  Tensor biased = RunOp(table, {OpKind::kBiasAdd, BiasAddAttrs{}, {y, bias}})[0];
  ExpectClose(ToDoubles(RunOp(table, {OpKind::k_FusedConv2D, ConvAttrs{}, {x, w, bias}})[0]), ToDoubles(biased), 1e-14,
              "bias");
  for (double& value : biased.data<double>()) value = std::max(value, 0.0);
  const ConvAttrs relu{.activation = Activation::kRelu};
  ExpectClose(ToDoubles(RunOp(table, {OpKind::k_FusedConv2D, relu, {x, w, bias}})[0]), ToDoubles(biased), 1e-14,
              "relu");

  ConvAttrs attrs{.target_shape = w.shape()};
  const auto fused = RunOp(table, {OpKind::k_FusedConv2DBackpropFilter, attrs, {x, y}});
  EXPECT_EQ(ToDoubles(fused[0]), ToDoubles(RunOp(table, {OpKind::kConv2DBackpropFilter, attrs, {x, y}})[0]));
  EXPECT_EQ(ToDoubles(fused[1]), ToDoubles(RunOp(table, {OpKind::kBiasAddGrad, BiasAddAttrs{}, {y}})[0]));
}

}  // namespace
}  // namespace muster
