#include "tests/graph/every_op.h"

#include "muster/gradients.h"
#include "muster/ops.h"

namespace muster {
namespace {

using ops::Placeholder;

void AddElementwise(const Scope& scope, Output x) {
  for (auto op : {ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Pow, ops::Maximum, ops::Minimum, ops::SquaredDifference})
    op(scope, x, x);
  for (auto op : {ops::Neg,   ops::Square,  ops::Sqrt, ops::Rsqrt,    ops::Reciprocal, ops::Abs,         ops::Sign,
                  ops::Exp,   ops::Log,     ops::Cos,  ops::Sin,      ops::Floor,      ops::Ceil,        ops::Relu,
                  ops::Relu6, ops::Sigmoid, ops::Tanh, ops::Softplus, ops::Identity,   ops::StopGradient})
    op(scope, x);
  const Output equal = ops::Equal(scope, x, x);
  for (auto op : {ops::NotEqual, ops::Less, ops::LessEqual, ops::Greater, ops::GreaterEqual}) op(scope, x, x);
  ops::LogicalNot(scope, ops::LogicalOr(scope, equal, ops::LogicalAnd(scope, equal, equal)));
  ops::Select(scope, equal, x, x);
  ops::IsFinite(scope, x);
  ops::AddN(scope, {x, x, x});
  ops::Cast(scope, x, DType::kInt64);
  for (const OpKind kind :
       {OpKind::kReluGrad, OpKind::kRelu6Grad, OpKind::kSigmoidGrad, OpKind::kTanhGrad, OpKind::kSoftplusGrad})
    scope.AddOp(kind, {x, x});
}

void AddArrays(const Scope& scope, Output x) {  // x [4,6]
  ops::Transpose(scope, ops::Reshape(scope, x, {2, 12}), {1, 0});
  ops::Squeeze(scope, ops::ExpandDims(scope, x, 1), {1});
  ops::Concat(scope, {x, x, x}, 1);
  ops::Split(scope, x, 1, 3);
  ops::SplitV(scope, x, 0, {1, 3});
  ops::Slice(scope, x, {1, 2}, {2, -1});
  ops::Pad(scope, x, {{1, 0}, {0, 2}});
  ops::Pad(scope, x, {{1, 0}, {0, 2}}, PadMode::kConstant, 5);
  const Output mirrored = ops::Pad(scope, x, {{1, 0}, {0, 2}}, PadMode::kReflect);
  Gradients(scope, mirrored, {x});
  ops::Pad(scope, x, {{1, 0}, {0, 2}}, PadMode::kSymmetric);
  ops::Tile(scope, x, {2, 1});
  ops::Pack(scope, {x, x}, 1);
  ops::BroadcastTo(scope, x, Shape{3, 4, 6});
  ops::OneHot(scope, ops::ArgMax(scope, x, 1), 10, 2, -1);
}

void AddReductions(const Scope& scope, Output x, Output labels) {
  const Output bucket = ops::Bucket(scope, {x, ops::Neg(scope, x)});
  ops::Unbucket(scope, bucket, {Shape{24}, Shape{2, 12}});
  ops::CollectiveReduce(scope, x, "mean", 2, 1, 0.5);
  ops::Sum(scope, x, {0}, true);
  ops::Mean(scope, x);
  ops::Max(scope, x, {1});
  ops::Min(scope, x, {0, 1});
  ops::TopK(scope, x, 3);
  ops::InTopK(scope, x, labels, 2);
  ops::L2Loss(scope, x);
  ops::Softmax(scope, x);
  ops::LogSoftmax(scope, x);
  ops::SparseSoftmaxCrossEntropyWithLogits(scope, x, labels);
  ops::SoftmaxCrossEntropyWithLogits(scope, x, x);
  ops::MatMul(scope, x, x, false, true);
}

void AddImages(const Scope& scope, DataFormat format) {
  const bool nhwc = format == DataFormat::kNHWC;
  const Output x = Placeholder(scope, DType::kFloat32, nhwc ? Shape{2, 8, 8, 3} : Shape{2, 3, 8, 8});
  const Output filter = Placeholder(scope, DType::kFloat32, Shape{3, 3, 3, 4});
  const Output deep = Placeholder(scope, DType::kFloat32, Shape{3, 3, 3, 2});
  const Output channels = Placeholder(scope, DType::kFloat32, Shape{4});
  Output y = ops::Conv2D(scope, x, filter, {.strides = {2, 1}, .padding = Padding::kSame, .data_format = format});
  ops::Conv2D(scope, x, filter,
              {.padding = Padding::kExplicit, .explicit_paddings = {1, 0, 2, 1}, .data_format = format});
  const Output d = ops::DepthwiseConv2dNative(scope, x, deep, {.padding = Padding::kValid, .data_format = format});
  y = ops::BiasAdd(scope, y, channels, format);
  y = ops::FusedBatchNorm(scope, y, channels, channels, channels, channels,
                          {.is_training = false, .data_format = format})
          .y;
  const Output empty = Placeholder(scope, DType::kFloat32, Shape{0});
  y = ops::FusedBatchNorm(scope, y, channels, channels, empty, empty, {.data_format = format}).y;
  y = ops::MaxPool(scope, y, {.ksize = {2, 2}, .strides = {1, 1}, .padding = Padding::kValid, .data_format = format});
  y = ops::AvgPool(scope, y, {.ksize = {2, 3}, .strides = {2, 1}, .padding = Padding::kSame, .data_format = format});
  if (nhwc) y = ops::LRN(scope, y, {.depth_radius = 2});
  Gradients(scope, y, {x, filter, channels});
  Gradients(scope, d, {x, deep});
}

void AddRandom(const Scope& scope) {
  ops::RandomUniform(scope, DType::kFloat32, Shape{2, 3}, 7);
  ops::RandomUniformInt(scope, DType::kInt64, Shape{2}, -5, 5, 8);
  ops::RandomStandardNormal(scope, DType::kFloat64, Shape{}, 9);
  ops::TruncatedNormal(scope, DType::kFloat32, Shape{4});
  ops::Fill(scope, DType::kInt32, Shape{2, 2}, 3);
}

// Every update rule on one variable and its slots.
void AddUpdates(const Scope& scope) {
  const Output zeros = ops::Fill(scope, DType::kFloat32, Shape{5}, 0);
  const Variable w = ops::MakeVariable(scope, "w", zeros), a = ops::MakeVariable(scope, "a", zeros, false);
  const Variable b = ops::MakeVariable(scope, "b", zeros, false), c = ops::MakeVariable(scope, "c", zeros, false);
  const Output s = ops::Scalar(scope, 0.5f), g = Placeholder(scope, DType::kFloat32, Shape{5});
  ops::AssignAdd(scope, w, g);
  ops::AssignSub(scope, w, g);
  const std::vector<NodeId> updates = {ops::ApplyGradientDescent(scope, w, s, g),
                                       ops::ApplyMomentum(scope, w, a, s, g, s, true),
                                       ops::ApplyRMSProp(scope, w, a, b, s, s, s, s, g),
                                       ops::ApplyCenteredRMSProp(scope, w, a, b, c, s, s, s, s, g),
                                       ops::ApplyAdam(scope, w, a, b, s, s, s, s, s, s, g),
                                       ops::ApplyAdaMax(scope, w, a, b, s, s, s, s, s, g),
                                       ops::ApplyAdagrad(scope, w, a, s, g),
                                       ops::ApplyAdadelta(scope, w, a, b, s, s, s, g),
                                       ops::ApplyFtrl(scope, w, a, b, g, s, s, s, s),
                                       ops::ApplyProximalGradientDescent(scope, w, s, s, s, g)};
  ops::Group(scope.Named("all_updates"), updates);
}

void AddCompilerOps(const Scope& scope) {
  const Output x = Placeholder(scope, DType::kFloat32, Shape{2, 8, 8, 3});
  const Output filter = Placeholder(scope, DType::kFloat32, Shape{3, 3, 3, 4}),
               bias = Placeholder(scope, DType::kFloat32, Shape{4});
  const ConvAttrs conv{.activation = Activation::kRelu};
  const Output y = scope.AddOp(OpKind::k_FusedConv2D, {x, filter, bias}, conv);
  ConvAttrs gradient = conv;
  gradient.target_shape = Shape{3, 3, 3, 4};
  scope.AddNode(OpKind::k_FusedConv2DBackpropFilter, {x, y}, gradient);
  const Output m = Placeholder(scope, DType::kFloat32, Shape{4, 4});
  scope.AddOp(OpKind::k_FusedMatMul, {m, m, bias}, MatMulAttrs{.activation = Activation::kRelu});
  const Variable weights = ops::MakeVariable(scope, "weights", ops::Fill(scope, DType::kFloat32, Shape{4, 4}, 1));
  const Output rate = ops::Scalar(scope, 0.5f);
  scope.AddNode(OpKind::k_MatMulApplyGradientDescent, {weights, rate, m, m, rate},
                ApplyAttrs{.has_weight_decay = true});
  const BatchNormAttrs norm{.activation = Activation::kRelu, .has_side_input = true};
  const NodeId bn = scope.AddNode(OpKind::k_FusedBatchNormEx, {y, bias, bias, bias, bias, y}, norm);
  scope.AddNode(OpKind::k_FusedBatchNormGradEx, {y, y, bias, {bn, 3}, {bn, 4}, bias, {bn, 0}}, norm);
  const PoolAttrs pool{.ksize = {2, 2}, .strides = {2, 2}};
  const Output pooled = ops::MaxPool(scope, x, pool);
  scope.AddOp(OpKind::k_MaxPoolReluGrad, {x, pooled, pooled}, pool);
  scope.AddNode(OpKind::k_Send, {scope.AddOp(OpKind::k_Snapshot, {x})}, ChannelAttrs{3, {}});
  scope.AddOp(OpKind::k_Reorder, {x});
  scope.AddOp(OpKind::k_Recv, {}, ChannelAttrs{4, {DType::kFloat32, Shape{7}, {}}});
}

}  // namespace

Graph EveryOpGraph() {
  Graph graph;
  const Scope root(&graph);
  const Output x = Placeholder(root.Named("x"), DType::kFloat32, Shape{4, 6});
  const Output labels = Placeholder(root.Named("labels"), DType::kInt32, Shape{4});
  ops::Const(root.Named("numbers"), Tensor::Of<int64_t>(Shape{2, 2}, {1, 2, 3, int64_t{1} << 40}));
  ops::Const(root.Named("flag"), Tensor::Scalar(true));
  ops::Const(root.Named("half"), Tensor::Scalar(ToBFloat16(1.5f)));
  AddElementwise(root.WithName("elementwise"), x);
  AddArrays(root.WithName("arrays").WithDevice("/device:GPU:0"), x);
  AddReductions(root.WithName("reductions").WithDevice("/job:ps/task:1/device:CPU:0"), x, labels);
  AddImages(root.WithName("nhwc"), DataFormat::kNHWC);
  AddImages(root.WithName("nchw"), DataFormat::kNCHW);
  AddRandom(root.WithName("random"));
  AddUpdates(root.WithName("updates").WithVariableScope("v"));
  AddCompilerOps(root.WithName("compiler"));
  return graph;
}

}  // namespace muster
