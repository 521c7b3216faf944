// Conv2D and DepthwiseConv2dNative with their gradients. Inputs in TensorFlow's order, except that the shape a gradient
// produces is the attribute target_shape: BackpropInput(filter, dy), BackpropFilter(x, dy).
#include <fmt/format.h>

#include "graph/op_def.h"
#include "graph/ops/shape_checks.h"
#include "graph/ops/window.h"
#include "muster/error.h"
#include "muster/ops/nn.h"

namespace muster {
namespace {

using GeometryFn = ConvGeometry (*)(const Shape& x, const Shape& filter, const ConvAttrs& attrs);

void CheckTypes(const ShapeContext& c) {
  RequireFloating(c, 0);
  RequireSameDType(c);
}

// The convolution that the gradient node belongs to must give an output of dy's shape.
void CheckDy(const ShapeContext& c, const ConvGeometry& g, const ConvAttrs& attrs, const Shape& x,
             const Shape& filter) {
  const Shape y = ImageShape(g.output(), attrs.data_format);
  if (c.shape(1) != y)
    throw InvalidArgument(fmt::format("dy is {}, but input {} ({}) and filter {} give an output {}",
                                      c.shape(1).ToString(), x.ToString(), DataFormatName(attrs.data_format),
                                      filter.ToString(), y.ToString()));
}

template <GeometryFn geometry>
std::vector<TensorDesc> ForwardShape(const ShapeContext& c) {
  CheckTypes(c);
  const auto& attrs = c.attr<ConvAttrs>();
  return {Like(c, 0, ImageShape(geometry(c.shape(0), c.shape(1), attrs).output(), attrs.data_format))};
}

template <GeometryFn geometry>
std::vector<TensorDesc> BackpropInputShape(const ShapeContext& c) {
  CheckTypes(c);
  const auto& attrs = c.attr<ConvAttrs>();
  CheckDy(c, geometry(attrs.target_shape, c.shape(0), attrs), attrs, attrs.target_shape, c.shape(0));
  return {Like(c, 0, attrs.target_shape)};
}

template <GeometryFn geometry>
std::vector<TensorDesc> BackpropFilterShape(const ShapeContext& c) {
  CheckTypes(c);
  const auto& attrs = c.attr<ConvAttrs>();
  CheckDy(c, geometry(c.shape(0), attrs.target_shape, attrs), attrs, c.shape(0), attrs.target_shape);
  return {Like(c, 0, attrs.target_shape)};
}

// The three kinds of one family: each is linear in both inputs, so their gradients are each other.
struct ConvKinds {
  OpKind forward, backprop_input, backprop_filter;
};
constexpr ConvKinds kConv2D{OpKind::kConv2D, OpKind::kConv2DBackpropInput, OpKind::kConv2DBackpropFilter};
constexpr ConvKinds kDepthwise{OpKind::kDepthwiseConv2dNative, OpKind::kDepthwiseConv2dNativeBackpropInput,
                               OpKind::kDepthwiseConv2dNativeBackpropFilter};

ConvAttrs Targeting(const GradientContext& c, const Shape& target) {
  ConvAttrs attrs = c.attr<ConvAttrs>();
  attrs.target_shape = target;
  return attrs;
}

template <const ConvKinds& kinds>
std::vector<Output> ForwardGradient(const GradientContext& c) {
  const Output x = c.input(0), filter = c.input(1), dy = c.dy[0];
  return {c.scope.AddOp(kinds.backprop_input, {filter, dy}, Targeting(c, c.shape(x))),
          c.scope.AddOp(kinds.backprop_filter, {x, dy}, Targeting(c, c.shape(filter)))};
}

template <const ConvKinds& kinds>
std::vector<Output> BackpropInputGradient(const GradientContext& c) {
  const Output filter = c.input(0), dy = c.input(1), ddx = c.dy[0];
  return {c.scope.AddOp(kinds.backprop_filter, {ddx, dy}, Targeting(c, c.shape(filter))),
          c.scope.AddOp(kinds.forward, {ddx, filter}, Targeting(c, {}))};
}

template <const ConvKinds& kinds>
std::vector<Output> BackpropFilterGradient(const GradientContext& c) {
  const Output x = c.input(0), dy = c.input(1), ddw = c.dy[0];
  return {c.scope.AddOp(kinds.backprop_input, {ddw, dy}, Targeting(c, c.shape(x))),
          c.scope.AddOp(kinds.forward, {x, ddw}, Targeting(c, {}))};
}

constexpr OpDef kRows[] = {
    {OpKind::kConv2D, 2, 2, ForwardShape<Conv2DGeometry>, ForwardGradient<kConv2D>},
    {OpKind::kConv2DBackpropInput, 2, 2, BackpropInputShape<Conv2DGeometry>, BackpropInputGradient<kConv2D>},
    {OpKind::kConv2DBackpropFilter, 2, 2, BackpropFilterShape<Conv2DGeometry>, BackpropFilterGradient<kConv2D>},
    {OpKind::kDepthwiseConv2dNative, 2, 2, ForwardShape<DepthwiseGeometry>, ForwardGradient<kDepthwise>},
    {OpKind::kDepthwiseConv2dNativeBackpropInput, 2, 2, BackpropInputShape<DepthwiseGeometry>,
     BackpropInputGradient<kDepthwise>},
    {OpKind::kDepthwiseConv2dNativeBackpropFilter, 2, 2, BackpropFilterShape<DepthwiseGeometry>,
     BackpropFilterGradient<kDepthwise>},
};

}  // namespace

std::span<const OpDef> ConvOps() { return kRows; }

namespace ops {

Output Conv2D(const Scope& scope, Output x, Output filter, ConvAttrs attrs) {
  return scope.AddOp(OpKind::kConv2D, {x, filter}, std::move(attrs));
}

Output DepthwiseConv2dNative(const Scope& scope, Output x, Output filter, ConvAttrs attrs) {
  return scope.AddOp(OpKind::kDepthwiseConv2dNative, {x, filter}, std::move(attrs));
}

}  // namespace ops
}  // namespace muster
