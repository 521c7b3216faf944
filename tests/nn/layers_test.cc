#include "muster/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/error.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

class LayersTest : public ::testing::Test {
 protected:
  Output Images(const Shape& shape) { return ops::Placeholder(scope_, DType::kFloat32, shape); }
  std::vector<std::string> VariableNames() const {
    std::vector<std::string> names;
    for (const VariableInfo& info : graph_.variables()) names.push_back(info.name);
    return names;
  }
  std::vector<const Node*> NodesOf(OpKind kind) const {
    std::vector<const Node*> nodes;
    for (NodeId id = 0; id < graph_.num_nodes(); ++id)
      if (graph_.node(id).kind == kind) nodes.push_back(&graph_.node(id));
    return nodes;
  }

  Graph graph_;
  Scope scope_{&graph_};
};

TEST_F(LayersTest, CountersNameVariablesAsThePublicCheckpointsDo) {
  ModelBuilder b(scope_.WithVariableScope("v"), {});
  Output x = Images({2, 8, 8, 3});
  b.Within("cg", [&] {
    x = b.Conv(x, 4, 3, 3);
    b.UseBatchNorm({.scale = true});
    x = b.Conv(x, 4, 3, 3);
    return b.Affine(b.Flatten(x), 5);
  });
  EXPECT_THAT(VariableNames(), ElementsAre("v/cg/conv0/conv2d/kernel", "v/cg/conv0/biases", "v/cg/conv1/conv2d/kernel",
                                           "v/cg/conv1/batchnorm0/gamma", "v/cg/conv1/batchnorm0/beta",
                                           "v/cg/conv1/batchnorm0/moving_mean", "v/cg/conv1/batchnorm0/moving_variance",
                                           "v/cg/affine0/weights", "v/cg/affine0/biases"));
}

TEST_F(LayersTest, StridedSameResnetPadsSymmetricallyAndUnstridedIsSame) {
  ModelBuilder b(scope_, {});
  Output x = Images({1, 224, 224, 3});
  x = b.Conv(x, 4, 7, 7, {.strides = {2, 2}, .padding = ConvPadding::kSameResnet});
  EXPECT_EQ(graph_.shape(x), (Shape{1, 112, 112, 4}));
  b.Conv(x, 4, 3, 3, {.padding = ConvPadding::kSameResnet});
  const auto convolutions = NodesOf(OpKind::kConv2D);
  const auto& strided = convolutions[0]->attr<ConvAttrs>();
  EXPECT_EQ(strided.padding, Padding::kExplicit);
  EXPECT_THAT(strided.explicit_paddings, ElementsAre(3, 3, 3, 3));
  EXPECT_EQ(convolutions[1]->attr<ConvAttrs>().padding, Padding::kSame);
}

TEST_F(LayersTest, EvenKernelsPadMoreBehind) {
  ModelBuilder b(scope_, {});
  b.Conv(Images({1, 8, 8, 3}), 4, 4, 4, {.strides = {2, 2}, .padding = ConvPadding::kSameResnet});
  EXPECT_THAT(NodesOf(OpKind::kConv2D)[0]->attr<ConvAttrs>().explicit_paddings, ElementsAre(1, 2, 1, 2));
}

TEST_F(LayersTest, DropoutIsTheIdentityInEvaluationAndWhenSwitchedOff) {
  const Output x = Images({2, 8});
  ModelBuilder training(scope_, {});
  ModelBuilder evaluation(scope_, {.phase_train = false});
  ModelBuilder switched_off(scope_, {.dropout = false});
  EXPECT_NE(training.Dropout(x), x);
  EXPECT_EQ(evaluation.Dropout(x), x);
  EXPECT_EQ(switched_off.Dropout(x), x);
  EXPECT_EQ(training.Dropout(x, 1.0), x);
}

TEST_F(LayersTest, RunningAveragesMoveByOneMinusTheFloat32Decay) {
  ModelBuilder b(scope_, {});
  b.BatchNorm(Images({2, 4, 4, 3}), {.decay = 0.9});
  ASSERT_EQ(b.update_ops().size(), 2u);
  EXPECT_EQ(graph_.update_ops(), b.update_ops());
  const Node& update = graph_.node(b.update_ops()[0]);
  EXPECT_EQ(update.kind, OpKind::kAssignSub);
  EXPECT_EQ(graph_.node(update.inputs[0].node).name, "batchnorm0/moving_mean");
  const Node& product = graph_.node(update.inputs[1].node);
  const float rate = graph_.node(product.inputs[1].node).attr<ConstAttrs>().value.scalar<float>();
  EXPECT_EQ(rate, static_cast<float>(1.0 - static_cast<double>(0.9f)));
}

TEST_F(LayersTest, ATowerAfterTheFirstLeavesRunningAveragesAlone) {
  ModelBuilder b(scope_, {.update_moving_averages = false});
  b.BatchNorm(Images({2, 4, 4, 3}));
  EXPECT_TRUE(graph_.update_ops().empty());
}

TEST_F(LayersTest, HalfPrecisionKeepsWeightsAndStatisticsInFloat32) {
  ModelBuilder b(scope_, {.dtype = DType::kFloat16});
  b.UseBatchNorm({.scale = true});
  const Output y = b.Conv(ops::Placeholder(scope_, DType::kFloat16, {1, 8, 8, 3}), 4, 3, 3);
  EXPECT_EQ(graph_.dtype(y), DType::kFloat16);
  for (const VariableInfo& info : graph_.variables()) EXPECT_EQ(graph_.dtype(info.ref), DType::kFloat32) << info.name;
}

TEST_F(LayersTest, SharedColumnsUseTheNeighboursLayerOnce) {
  ModelBuilder b(scope_, {});
  using Kind = ColumnLayer::Kind;
  const Output y =
      b.InceptionModule(Images({1, 8, 8, 3}), "m",
                        {{{Kind::kConv, 4, 1, 1}, {Kind::kConv, 5, 3, 1}}, {{Kind::kShare}, {Kind::kConv, 6, 1, 3}}});
  EXPECT_EQ(graph_.shape(y), (Shape{1, 8, 8, 11}));
  EXPECT_EQ(NodesOf(OpKind::kConv2D).size(), 3u);
  EXPECT_THROW(b.InceptionModule(Images({1, 8, 8, 3}), "m", {{{Kind::kShare}}}), Error);
}

TEST_F(LayersTest, NchwKeepsKernelsAndMovesOnlyTheChannels) {
  ModelBuilder b(scope_, {.data_format = DataFormat::kNCHW});
  const Output y = b.PadChannels(b.Conv(Images({1, 3, 8, 8}), 4, 3, 3), 1, 2);
  EXPECT_EQ(graph_.shape(y), (Shape{1, 7, 8, 8}));
  EXPECT_EQ(graph_.shape(graph_.variables()[0].ref), (Shape{3, 3, 3, 4}));
  EXPECT_EQ(graph_.shape(b.SpatialMean(y)), (Shape{1, 7}));
}

TEST_F(LayersTest, AStrategyMayDecideWhereVariablesComeFrom) {
  std::vector<std::string> asked;
  BuilderOptions options;
  options.get_variable = [&](const Scope& scope, const VariableSpec& spec) {
    asked.push_back(scope.variable_prefix() + std::string(spec.name));
    return GetVariable(scope.WithDevice("/job:ps/task:1"), spec);
  };
  ModelBuilder b(scope_, options);
  b.Affine(Images({1, 8}), 2);
  EXPECT_THAT(asked, ElementsAre("affine0/weights", "affine0/biases"));
  EXPECT_EQ(graph_.node(graph_.variables()[0].ref.node).device.ToString(), "/job:ps/task:1");
}

TEST_F(LayersTest, SlimLayersHaveSlimsNamesAndNoNumberOnTheFirst) {
  ModelBuilder b(scope_, {});
  b.UsingLibrary(LayerLibrary::kSlim, [&] {
    Output x = b.Conv(Images({1, 8, 8, 3}), 4, 3, 3);
    x = b.SeparableConv(x, 6, 3, 3);
    b.UseBatchNorm({.scale = true});
    x = b.Conv(x, 4, 1, 1);
    return b.DepthwiseConv(x, 3, 3, {.name = "depthwise"});
  });
  EXPECT_THAT(VariableNames(),
              ElementsAre("Conv/weights", "Conv/biases", "SeparableConv2d/depthwise_weights",
                          "SeparableConv2d/pointwise_weights", "SeparableConv2d/biases", "Conv_1/weights",
                          "Conv_1/BatchNorm/gamma", "Conv_1/BatchNorm/beta", "Conv_1/BatchNorm/moving_mean",
                          "Conv_1/BatchNorm/moving_variance", "depthwise/depthwise_weights",
                          "depthwise/BatchNorm/gamma", "depthwise/BatchNorm/beta", "depthwise/BatchNorm/moving_mean",
                          "depthwise/BatchNorm/moving_variance"));
}

TEST_F(LayersTest, AnotherLibrarysNamesEndWithItsBlock) {
  ModelBuilder b(scope_, {});
  const Output x = b.UsingLibrary(LayerLibrary::kTfLayers, [&] {
    return b.BatchNorm(b.Conv(Images({1, 8, 8, 3}), 4, 3, 3, {.bias = {}}));
  });
  b.Affine(b.Flatten(x), 2);
  EXPECT_THAT(VariableNames(),
              ElementsAre("conv2d/kernel", "batch_normalization/beta", "batch_normalization/moving_mean",
                          "batch_normalization/moving_variance", "affine0/weights", "affine0/biases"));
}

TEST_F(LayersTest, ASeparableConvolutionStridesInItsDepthwisePart) {
  ModelBuilder b(scope_, {});
  const Output y = b.SeparableConv(Images({1, 8, 8, 3}), 5, 3, 3, {.strides = {2, 2}});
  EXPECT_EQ(graph_.shape(y), (Shape{1, 4, 4, 5}));
  EXPECT_EQ(graph_.shape({NodesOf(OpKind::kDepthwiseConv2dNative)[0]->id, 0}), (Shape{1, 4, 4, 3}));
}

TEST_F(LayersTest, AFactorizedReductionSeesTheImageAndItsShiftByOne) {
  // Weights of one: each half of the result is what it reads of the image. ReLU leaves positive numbers alone.
  BuilderOptions options{.phase_train = false};
  options.get_variable = [](const Scope& scope, const VariableSpec& spec) {
    VariableSpec ones = spec;
    if (spec.name == "weights" || spec.name == "kernel") ones.initializer = initializers::Ones();
    return GetVariable(scope, ones);
  };
  ModelBuilder b(scope_, options);
  const Output x = Images({1, 3, 3, 1});
  const Output y = b.FactorizedReduction(x, 2, 2, {.epsilon = 0});
  Session session(&graph_);
  session.Initialize();
  const Tensor image = Tensor::Of<float>({1, 3, 3, 1}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor result = session.Run({{x, image}}, {y})[0];
  EXPECT_THAT(result.data<float>(),
              ::testing::Pointwise(::testing::FloatEq(), {1.F, 5.F, 3.F, 0.F, 7.F, 0.F, 9.F, 0.F}));
  EXPECT_THROW(b.FactorizedReduction(x, 3, 2), Error);
}

TEST_F(LayersTest, DropPathZeroesWholeExamplesAndScalesTheOthers) {
  ModelBuilder training(scope_, {}), evaluation(scope_, {.phase_train = false});
  const Output x = Images({64, 2, 3, 4}), keep = ops::ScalarLike(scope_, 0.25, DType::kFloat32);
  EXPECT_EQ(evaluation.DropPath(x, keep), x);
  const Output y = training.DropPath(x, keep);
  Session session(&graph_);
  const std::vector<float> ones(64 * 24, 1.F);
  const Tensor result = session.Run({{x, Tensor::Of<float>({64, 2, 3, 4}, ones)}}, {y})[0];
  int kept = 0;
  for (size_t n = 0; n < 64; ++n) {
    const auto example = result.data<float>().subspan(n * 24, 24);
    EXPECT_THAT(example, ::testing::Each(example[0])) << n;
    EXPECT_TRUE(example[0] == 0.F || example[0] == 4.F) << example[0];
    kept += example[0] > 0 ? 1 : 0;
  }
  EXPECT_GE(kept, 4);
  EXPECT_LE(kept, 32);
}

TEST_F(LayersTest, ScopesCloseWhenALayerThrows) {
  ModelBuilder b(scope_, {});
  EXPECT_THROW(b.Conv(Images({1, 2, 2, 3}), 4, 3, 3, {.padding = ConvPadding::kValid}), Error);
  EXPECT_EQ(b.scope().variable_prefix(), "");
}

}  // namespace
}  // namespace muster
