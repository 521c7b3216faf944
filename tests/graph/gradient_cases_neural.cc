// Products, convolutions, pooling, normalisation, losses.

#include "muster/ops.h"
#include "tests/graph/gradient_cases.h"

namespace muster::testing {
namespace {

using Outputs = std::vector<Output>;

struct NamedConv {
  const char* name;
  ConvAttrs attrs;
};

// Strides, dilations and paddings, each also unequal in the two directions.
std::vector<NamedConv> ConvVariants() {
  return {{"same", {}},
          {"same_strided", {.strides = {2, 2}}},
          {"valid", {.padding = Padding::kValid}},
          {"valid_strided", {.strides = {2, 1}, .padding = Padding::kValid}},
          {"dilated", {.dilations = {2, 2}}},
          {"explicit", {.strides = {2, 2}, .padding = Padding::kExplicit, .explicit_paddings = {1, 0, 2, 1}}}};
}

// Shapes in NHWC; the input is given in the attributes' format.
Shape InFormat(const Shape& nhwc, DataFormat format) {
  return format == DataFormat::kNHWC ? nhwc : Shape{nhwc[0], nhwc[3], nhwc[1], nhwc[2]};
}

const char* Suffix(DataFormat format) { return format == DataFormat::kNHWC ? "_nhwc" : "_nchw"; }

constexpr DataFormat kFormats[] = {DataFormat::kNHWC, DataFormat::kNCHW};

using ConvOp = Output (*)(const Scope&, Output, Output, ConvAttrs);

// A convolution, and the two that its gradients are made of, as functions of both their inputs.
void AddConv(std::vector<GradientCase>& cases, OpKind kind, OpKind by_input, OpKind by_filter, ConvOp op,
             const char* name, ConvAttrs attrs, const Shape& nhwc, const Shape& filter) {
  for (DataFormat format : kFormats) {
    attrs.data_format = format;
    const Shape x = InFormat(nhwc, format);
    Graph graph;  // only to learn the shape of the output
    const Scope scope(&graph);
    const Output y =
        op(scope, ops::Placeholder(scope, DType::kFloat64, x), ops::Placeholder(scope, DType::kFloat64, filter), attrs);
    const Shape dy = scope.shape(y);
    const std::string full_name = std::string(name) + Suffix(format);
    cases.push_back({kind, full_name, {x, filter}, [=](const Scope& s, const Outputs& in) {
                       return Outputs{op(s, in[0], in[1], attrs)};
                     }});
    if (std::string(name) != "explicit" && std::string(name) != "same_strided") continue;
    ConvAttrs to_x = attrs, to_filter = attrs;
    to_x.target_shape = x;
    to_filter.target_shape = filter;
    cases.push_back({by_input, full_name, {filter, dy}, [=](const Scope& s, const Outputs& in) {
                       return Outputs{s.AddOp(by_input, {in[0], in[1]}, to_x)};
                     }});
    cases.push_back({by_filter, full_name, {x, dy}, [=](const Scope& s, const Outputs& in) {
                       return Outputs{s.AddOp(by_filter, {in[0], in[1]}, to_filter)};
                     }});
  }
}

void AddConvs(std::vector<GradientCase>& cases) {
  for (const NamedConv& c : ConvVariants()) {
    AddConv(cases, OpKind::kConv2D, OpKind::kConv2DBackpropInput, OpKind::kConv2DBackpropFilter, ops::Conv2D, c.name,
            c.attrs, {2, 5, 6, 2}, {3, 2, 2, 3});
    AddConv(cases, OpKind::kDepthwiseConv2dNative, OpKind::kDepthwiseConv2dNativeBackpropInput,
            OpKind::kDepthwiseConv2dNativeBackpropFilter, ops::DepthwiseConv2dNative, c.name, c.attrs, {1, 5, 6, 2},
            {3, 2, 2, 2});
  }
  AddConv(cases, OpKind::kConv2D, OpKind::kConv2DBackpropInput, OpKind::kConv2DBackpropFilter, ops::Conv2D, "grouped",
          {.strides = {1, 2}}, {1, 4, 5, 4}, {2, 2, 2, 6});
}

void AddPools(std::vector<GradientCase>& cases) {
  struct Named {
    const char* name;
    PoolAttrs attrs;
  };
  const std::vector<Named> variants = {
      {"valid", {.ksize = {2, 2}, .strides = {2, 2}}},
      {"overlapping", {.ksize = {3, 2}, .strides = {1, 1}}},
      {"same", {.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::kSame}},
      {"explicit",
       {.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::kExplicit, .explicit_paddings = {1, 0, 1, 1}}}};
  for (Named c : variants)
    for (DataFormat format : kFormats) {
      PoolAttrs attrs = c.attrs;
      attrs.data_format = format;
      const Shape x = InFormat({2, 5, 6, 2}, format);
      const std::string name = std::string(c.name) + Suffix(format);
      cases.push_back({OpKind::kMaxPool, name, {x}, [=](const Scope& s, const Outputs& in) {
                         return Outputs{ops::MaxPool(s, in[0], attrs)};
                       }});
      cases.push_back({OpKind::kAvgPool, name, {x}, [=](const Scope& s, const Outputs& in) {
                         return Outputs{ops::AvgPool(s, in[0], attrs)};
                       }});
      Graph graph;
      const Scope scope(&graph);
      const Shape dy = scope.shape(ops::AvgPool(scope, ops::Placeholder(scope, DType::kFloat64, x), attrs));
      attrs.target_shape = x;
      cases.push_back({OpKind::kAvgPoolGrad, name, {dy}, [=](const Scope& s, const Outputs& in) {
                         return Outputs{s.AddOp(OpKind::kAvgPoolGrad, {in[0]}, attrs)};
                       }});
    }
}

void AddNorms(std::vector<GradientCase>& cases) {
  for (DataFormat format : kFormats) {
    for (bool training : {true, false}) {
      const BatchNormAttrs attrs{.epsilon = 1e-3, .is_training = training, .data_format = format};
      cases.push_back({OpKind::kFusedBatchNorm,
                       std::string(training ? "training" : "inference") + Suffix(format),
                       {InFormat({3, 2, 4, 2}, format), {2}, {2}},
                       [=](const Scope& s, const Outputs& x) {
                         const Output mean = ops::Const(s, Tensor::Of<double>({2}, {0.3, -0.2}));
                         const Output variance = ops::Const(s, Tensor::Of<double>({2}, {0.9, 1.7}));
                         return Outputs{ops::FusedBatchNorm(s, x[0], x[1], x[2], mean, variance, attrs).y};
                       }});
    }
    cases.push_back({OpKind::kFusedBatchNorm,
                     std::string("statistics") + Suffix(format),
                     {InFormat({3, 2, 4, 2}, format), {2}, {2}},
                     [=](const Scope& s, const Outputs& x) {
                       const Output none = ops::Fill(s, DType::kFloat64, {0}, 0);
                       const auto bn = ops::FusedBatchNorm(s, x[0], x[1], x[2], none, none,
                                                           {.epsilon = 1e-3, .data_format = format});
                       return Outputs{bn.y, bn.batch_mean, bn.batch_variance};
                     }});
    cases.push_back({OpKind::kFusedBatchNorm,
                     std::string("mean_alone") + Suffix(format),
                     {InFormat({3, 2, 4, 2}, format), {2}, {2}},
                     [=](const Scope& s, const Outputs& x) {
                       const Output none = ops::Fill(s, DType::kFloat64, {0}, 0);
                       const auto bn = ops::FusedBatchNorm(s, x[0], x[1], x[2], none, none,
                                                           {.epsilon = 1e-3, .data_format = format});
                       return Outputs{ops::Square(s, bn.batch_mean)};
                     }});
    cases.push_back({OpKind::kFusedBatchNorm,
                     std::string("given_statistics") + Suffix(format),
                     {InFormat({3, 2, 4, 2}, format), {2}, {2}, {2}, {2}},
                     [=](const Scope& s, const Outputs& x) {
                       const Output variance =
                           ops::Add(s, ops::Square(s, x[4]), ops::Const(s, Tensor::Of<double>({2}, {0.9, 1.7})));
                       const BatchNormAttrs attrs{.epsilon = 1e-3, .is_training = false, .data_format = format};
                       return Outputs{ops::FusedBatchNorm(s, x[0], x[1], x[2], x[3], variance, attrs).y};
                     }});
    const LRNAttrs lrn{.depth_radius = 2, .bias = 1, .alpha = 0.5, .beta = 0.75, .data_format = format};
    cases.push_back({OpKind::kLRN,
                     std::string("radius_2") + Suffix(format),
                     {InFormat({1, 2, 3, 7}, format)},
                     [=](const Scope& s, const Outputs& x) { return Outputs{ops::LRN(s, x[0], lrn)}; }});
    cases.push_back({OpKind::kBiasAdd,
                     std::string("image") + Suffix(format),
                     {InFormat({2, 3, 2, 4}, format), {4}},
                     [=](const Scope& s, const Outputs& x) { return Outputs{ops::BiasAdd(s, x[0], x[1], format)}; }});
  }
  cases.push_back({OpKind::kBiasAdd, "matrix", {{3, 4}, {4}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::BiasAdd(s, x[0], x[1])};
                   }});
}

void AddProducts(std::vector<GradientCase>& cases) {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      cases.push_back({OpKind::kMatMul,
                       std::string(ta ? "t" : "n") + (tb ? "t" : "n"),
                       {ta ? Shape{3, 2} : Shape{2, 3}, tb ? Shape{4, 3} : Shape{3, 4}},
                       [=](const Scope& s, const Outputs& x) { return Outputs{ops::MatMul(s, x[0], x[1], ta, tb)}; }});
}

void AddLosses(std::vector<GradientCase>& cases) {
  cases.push_back({OpKind::kSoftmax,
                   "rows",
                   {{3, 5}},
                   [](const Scope& s, const Outputs& x) { return Outputs{ops::Softmax(s, x[0])}; },
                   -3,
                   3});
  cases.push_back({OpKind::kLogSoftmax,
                   "rows",
                   {{3, 5}},
                   [](const Scope& s, const Outputs& x) { return Outputs{ops::LogSoftmax(s, x[0])}; },
                   -3,
                   3});
  cases.push_back({OpKind::kSparseSoftmaxCrossEntropyWithLogits,
                   "rows",
                   {{3, 5}},
                   [](const Scope& s, const Outputs& x) {
                     const Output labels = ops::Const(s, Tensor::Of<int32_t>({3}, {4, 0, 2}));
                     return Outputs{ops::SparseSoftmaxCrossEntropyWithLogits(s, x[0], labels)};
                   },
                   -3,
                   3});
  // Labels need not add up to one for the gradient by them; for that by the logits they must, as TensorFlow assumes.
  cases.push_back({OpKind::kSoftmaxCrossEntropyWithLogits,
                   "logits",
                   {{3, 5}},
                   [](const Scope& s, const Outputs& x) {
                     const Output uniform = ops::Fill(s, DType::kFloat64, {3, 5}, 0.2);
                     return Outputs{ops::SoftmaxCrossEntropyWithLogits(s, x[0], uniform)};
                   },
                   -3,
                   3});
  cases.push_back({OpKind::kSoftmaxCrossEntropyWithLogits,
                   "labels",
                   {{3, 5}},
                   [](const Scope& s, const Outputs& x) {
                     const Output labels = ops::Softmax(s, x[0]);
                     return Outputs{ops::SoftmaxCrossEntropyWithLogits(s, ops::Square(s, x[0]), labels)};
                   },
                   -1,
                   1});
}

}  // namespace

std::vector<GradientCase> NeuralGradientCases() {
  std::vector<GradientCase> cases;
  AddProducts(cases);
  AddConvs(cases);
  AddPools(cases);
  AddNorms(cases);
  AddLosses(cases);
  return cases;
}

}  // namespace muster::testing
