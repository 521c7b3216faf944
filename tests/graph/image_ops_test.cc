// Shape rules and gradients of convolutions, poolings and normalisations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "tests/graph/error_message.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ImageOps : public ::testing::Test {
 protected:
  Output Input(const Shape& shape, DType dtype = DType::kFloat32) { return ops::Placeholder(scope, dtype, shape); }
  const Node& NodeOf(Output o) { return graph.node(o.node); }

  Graph graph;
  Scope scope{&graph};
};

TEST_F(ImageOps, ConvolutionKeepsTheDataFormat) {
  const Output filter = Input({3, 3, 16, 24});
  ConvAttrs attrs{.strides = {2, 1}};
  EXPECT_EQ(scope.shape(ops::Conv2D(scope, Input({2, 8, 8, 16}), filter, attrs)), (Shape{2, 4, 8, 24}));
  attrs.data_format = DataFormat::kNCHW;
  EXPECT_EQ(scope.shape(ops::Conv2D(scope, Input({2, 16, 8, 8}), filter, attrs)), (Shape{2, 24, 4, 8}));
}

TEST_F(ImageOps, ConvolutionErrorNamesBothShapesFormatAndNode) {
  const Scope tower = scope.WithName("tower_0");
  const std::string message = testing::ErrorMessage([&] {
    ops::Conv2D(tower, Input({2, 9, 12, 3}), Input({3, 3, 4, 8}), {});
  });
  EXPECT_THAT(message, AllOf(HasSubstr("tower_0/Conv2D"), HasSubstr("[2,9,12,3] (NHWC)"), HasSubstr("[3,3,4,8] (HWIO)"),
                             HasSubstr("the input has 3 channels, the filter expects 4"), Not(HasSubstr("\n"))));
}

TEST_F(ImageOps, NCHWReadsChannelsFromAxis1) {
  ConvAttrs attrs{.data_format = DataFormat::kNCHW};
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::Conv2D(scope, Input({2, 10, 12, 3}), Input({1, 1, 3, 8}), attrs);
              }),
              HasSubstr("the input has 10 channels"));
}

TEST_F(ImageOps, FilterWithFewerInputChannelsMakesGroups) {
  EXPECT_EQ(scope.shape(ops::Conv2D(scope, Input({1, 5, 5, 8}), Input({3, 3, 2, 12}), {})), (Shape{1, 5, 5, 12}));
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::Conv2D(scope, Input({1, 5, 5, 8}), Input({3, 3, 2, 10}), {});
              }),
              HasSubstr("10 output channels do not split into 4 groups"));
}

TEST_F(ImageOps, ConvolutionGradientsHaveTheShapesOfWhatTheyDifferentiate) {
  const Output x = Input({2, 7, 8, 6}), filter = Input({3, 2, 3, 4});
  const Output y = ops::Conv2D(scope, x, filter, {.strides = {2, 2}});
  const auto grads = Gradients(scope, y, {x, filter});
  EXPECT_EQ(NodeOf(grads[0]).kind, OpKind::kConv2DBackpropInput);
  EXPECT_EQ(scope.shape(grads[0]), scope.shape(x));
  EXPECT_EQ(NodeOf(grads[1]).kind, OpKind::kConv2DBackpropFilter);
  EXPECT_EQ(scope.shape(grads[1]), scope.shape(filter));
}

TEST_F(ImageOps, ConvolutionGradientRefusesADyOfAnotherShape) {
  ConvAttrs attrs;
  attrs.target_shape = {2, 8, 8, 3};
  EXPECT_THAT(testing::ErrorMessage([&] {
                scope.AddOp(OpKind::kConv2DBackpropInput, {Input({3, 3, 3, 4}), Input({2, 4, 4, 4})}, attrs);
              }),
              HasSubstr("dy is [2,4,4,4], but input [2,8,8,3] (NHWC) and filter [3,3,3,4] give an output [2,8,8,4]"));
}

TEST_F(ImageOps, DepthwiseOutputHasMultiplierTimesTheChannels) {
  const Output x = Input({2, 8, 7, 4}), filter = Input({3, 3, 4, 2});
  const Output y = ops::DepthwiseConv2dNative(scope, x, filter, {});
  EXPECT_EQ(scope.shape(y), (Shape{2, 8, 7, 8}));
  const auto grads = Gradients(scope, y, {x, filter});
  EXPECT_EQ(NodeOf(grads[0]).kind, OpKind::kDepthwiseConv2dNativeBackpropInput);
  EXPECT_EQ(scope.shape(grads[1]), (Shape{3, 3, 4, 2}));
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::DepthwiseConv2dNative(scope, x, Input({3, 3, 3, 2}), {});
              }),
              HasSubstr("the input has 4 channels, the filter expects 3"));
}

TEST_F(ImageOps, PoolingGradientsReadWhatTheyNeed) {
  const Output x = Input({2, 7, 8, 3});
  const PoolAttrs attrs{.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::kSame};
  const Output max = ops::MaxPool(scope, x, attrs), avg = ops::AvgPool(scope, x, attrs);
  EXPECT_EQ(scope.shape(max), (Shape{2, 4, 4, 3}));
  const Output max_grad = Gradients(scope, max, {x})[0], avg_grad = Gradients(scope, avg, {x})[0];
  EXPECT_EQ(NodeOf(max_grad).inputs[0], x);
  EXPECT_EQ(NodeOf(max_grad).inputs[1], max);
  EXPECT_EQ(NodeOf(avg_grad).inputs.size(), 1u);
  EXPECT_EQ(scope.shape(avg_grad), scope.shape(x));
}

TEST_F(ImageOps, PoolingErrorNamesTheWindow) {
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::AvgPool(scope, Input({1, 4, 8, 3}), {.ksize = {5, 5}});
              }),
              HasSubstr("the window's height of 5 does not fit into 4 (padding VALID)"));
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::MaxPool(scope, Input({4, 8}), {});
              }),
              HasSubstr("must have 4 dimensions (NHWC), not shape [4,8]"));
}

TEST_F(ImageOps, BatchNormGivesFiveOutputsAndThreeGradients) {
  const Output x = Input({4, 5, 6, 3}), c = Input({3});
  const auto bn = ops::FusedBatchNorm(scope, x, c, c, c, c, {});
  EXPECT_EQ(NodeOf(bn.y).outputs.size(), 5u);
  EXPECT_EQ(scope.shape(bn.batch_variance), (Shape{3}));
  const Output dx = Gradients(scope, bn.y, {x})[0];
  EXPECT_EQ(NodeOf(dx).kind, OpKind::kFusedBatchNormGrad);
  EXPECT_EQ(NodeOf(dx).inputs[4], (Output{bn.y.node, 4}));
  EXPECT_EQ(scope.shape(dx), scope.shape(x));
}

TEST_F(ImageOps, BatchNormAcceptsEmptyStatisticsOnlyInTraining) {
  const Output x = Input({4, 5, 6, 3}), c = Input({3}), none = Input({0});
  EXPECT_NO_THROW(ops::FusedBatchNorm(scope, x, c, c, none, none, {.is_training = true}));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::FusedBatchNorm(scope, x, c, c, none, none, {.is_training = false}); }),
              HasSubstr("mean is [0], but the input [4,5,6,3] (NHWC) has 3 channels"));
}

TEST_F(ImageOps, BatchNormRefusesAGradientOfWhatItKeeps) {
  const Output x = Input({4, 5, 6, 3}), c = Input({3});
  const auto bn = ops::FusedBatchNorm(scope, x, c, c, c, c, {});
  EXPECT_THAT(testing::ErrorMessage([&] {
                Gradients(scope, {bn.y.node, 3}, {x});
              }),
              HasSubstr("no gradient flows through what it keeps for its own"));
}

TEST_F(ImageOps, BatchNormOfHalfPrecisionKeepsFloat32Statistics) {
  const Output x = Input({4, 5, 6, 3}, DType::kBFloat16), c = Input({3});
  const auto bn = ops::FusedBatchNorm(scope, x, c, c, c, c, {});
  EXPECT_EQ(scope.dtype(bn.y), DType::kBFloat16);
  EXPECT_EQ(scope.dtype(bn.batch_mean), DType::kFloat32);
  EXPECT_THAT(testing::ErrorMessage([&] {
                const Output wide = Input({4, 5, 6, 3}, DType::kFloat64);
                ops::FusedBatchNorm(scope, wide, c, c, c, c, {});
              }),
              HasSubstr("scale is float32, which does not go with an input of float64"));
}

TEST_F(ImageOps, LRNKeepsItsShape) {
  const Output x = Input({2, 3, 4, 13});
  const Output dx = Gradients(scope, ops::LRN(scope, x, {}), {x})[0];
  EXPECT_EQ(NodeOf(dx).kind, OpKind::kLRNGrad);
  EXPECT_EQ(scope.shape(dx), scope.shape(x));
}

}  // namespace
}  // namespace muster
