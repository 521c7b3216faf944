#include "graph/ops/window.h"
#include "tests/backend/cpu_vs_reference/op_cases.h"

namespace muster::testing {
namespace {

struct ConvSize {
  Shape x, filter;
  ConvAttrs attrs;
};

const ConvSize kConvs[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
    {{2, 7, 5, 3}, {3, 2, 3, 5}, {}},
    {{2, 8, 8, 16}, {3, 3, 16, 24}, {}},
    {{2, 8, 8, 32}, {1, 1, 32, 64}, {}},
    {{2, 9, 9, 16}, {1, 1, 16, 32}, {.strides = {2, 2}}},
    {{2, 14, 14, 64}, {3, 3, 64, 64}, {}},
    {{2, 15, 13, 32}, {3, 3, 32, 48}, {.strides = {2, 2}}},
    {{1, 23, 23, 3},
     {7, 7, 3, 16},
     {.strides = {2, 2}, .padding = Padding::kExplicit, .explicit_paddings = {3, 3, 3, 3}}},
    {{1, 23, 23, 3}, {11, 11, 3, 8}, {.strides = {4, 4}, .padding = Padding::kValid}},
    {{2, 9, 11, 4}, {3, 3, 4, 6}, {.strides = {2, 3}, .padding = Padding::kValid}},
    {{1, 9, 9, 8}, {1, 7, 8, 8}, {}},
    {{1, 9, 9, 8}, {7, 1, 8, 8}, {}},
    {{1, 10, 9, 3}, {3, 3, 3, 4}, {.dilations = {2, 3}}},
    {{2, 6, 6, 6}, {3, 3, 2, 9}, {}},
    {{2, 8, 8, 32}, {3, 3, 8, 32}, {.strides = {2, 2}}},
    {{4, 28, 28, 1}, {5, 5, 1, 32}, {}},
    {{2, 1, 1, 128}, {1, 1, 128, 10}, {.padding = Padding::kValid}},
};

const ConvSize kDepthwise[] = {
    {{2, 8, 7, 4}, {3, 3, 4, 1}, {}},
    {{2, 8, 7, 32}, {3, 3, 32, 1}, {.strides = {2, 2}}},
    {{2, 8, 7, 4}, {3, 2, 4, 3}, {}},
    {{1, 12, 12, 16}, {7, 7, 16, 1}, {.strides = {2, 2}}},
    {{1, 9, 9, 2}, {3, 3, 2, 2}, {.dilations = {2, 2}, .padding = Padding::kValid}},
};

struct Kinds {
  OpKind forward, backprop_input, backprop_filter;
};

void AddThree(OpCases* cases, const Kinds& kinds, const ConvSize& size, const Tensor& x, const Tensor& w,
              const Tensor& dy) {
  ConvAttrs attrs = size.attrs;
  Add(cases, kinds.forward, attrs, {x, w});
  attrs.target_shape = size.x;
  Add(cases, kinds.backprop_input, attrs, {w, dy});
  attrs.target_shape = size.filter;
  Add(cases, kinds.backprop_filter, attrs, {x, dy});
}

}  // namespace

void AddConvCases(OpCases* cases) {
  for (const ConvSize& size : kConvs) {
    const ConvGeometry g = Conv2DGeometry(size.x, size.filter, size.attrs);
    const Tensor x = Random(size.x), w = Random(size.filter), dy = Random(ImageShape(g.output(), DataFormat::kNHWC));
    AddThree(cases, {OpKind::kConv2D, OpKind::kConv2DBackpropInput, OpKind::kConv2DBackpropFilter}, size, x, w, dy);
    ConvAttrs attrs = size.attrs;
    for (Activation activation : {Activation::kNone, Activation::kRelu}) {
      attrs.activation = activation;
      Add(cases, OpKind::k_FusedConv2D, attrs, {x, w, Random({g.out_channels})});
    }
    attrs = size.attrs;
    attrs.target_shape = size.filter;
    Add(cases, OpKind::k_FusedConv2DBackpropFilter, attrs, {x, dy});
  }
  for (const ConvSize& size : kDepthwise) {
    const ConvGeometry g = DepthwiseGeometry(size.x, size.filter, size.attrs);
    AddThree(cases,
             {OpKind::kDepthwiseConv2dNative, OpKind::kDepthwiseConv2dNativeBackpropInput,
              OpKind::kDepthwiseConv2dNativeBackpropFilter},
             size, Random(size.x), Random(size.filter), Random(ImageShape(g.output(), DataFormat::kNHWC)));
  }
}

}  // namespace muster::testing
