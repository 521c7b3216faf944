// Shape rules and gradients of MatMul, BiasAdd, the softmax family and the update operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "tests/graph/error_message.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class DenseOps : public ::testing::Test {
 protected:
  Output Input(const Shape& shape, DType dtype = DType::kFloat32) { return ops::Placeholder(scope, dtype, shape); }
  Output Var(const char* name, const Shape& shape) {
    return ops::MakeVariable(scope, name, ops::Fill(scope, DType::kFloat32, shape, 0));
  }
  const Node& NodeOf(Output o) { return graph.node(o.node); }

  Graph graph;
  Scope scope{&graph};
};

TEST_F(DenseOps, MatMulGradientsFitForEveryTranspose) {
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      const Output a = Input(ta ? Shape{7, 4} : Shape{4, 7}), b = Input(tb ? Shape{5, 7} : Shape{7, 5});
      const Output y = ops::MatMul(scope, a, b, ta, tb);
      EXPECT_EQ(scope.shape(y), (Shape{4, 5}));
      const auto grads = Gradients(scope, y, {a, b});
      EXPECT_EQ(scope.shape(grads[0]), scope.shape(a)) << ta << tb;
      EXPECT_EQ(scope.shape(grads[1]), scope.shape(b)) << ta << tb;
    }
}

TEST_F(DenseOps, MatMulErrorNamesBothShapesAndTransposes) {
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::MatMul(scope, Input({4, 7}), Input({5, 8}), false, true);
              }),
              HasSubstr("a [4,7] and b [5,8] transposed do not multiply: 7 columns against 8 rows"));
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::MatMul(scope, Input({4, 7}), Input({7}));
              }),
              HasSubstr("b must have 2 dimensions, not shape [7]"));
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::MatMul(scope, Input({4, 7}), Input({7, 1}, DType::kFloat64));
              }),
              HasSubstr("input 1 is float64, but input 0 is float32"));
}

TEST_F(DenseOps, BiasFitsTheChannelsOfEitherFormat) {
  EXPECT_NO_THROW(ops::BiasAdd(scope, Input({2, 3, 4, 5}), Input({5})));
  EXPECT_NO_THROW(ops::BiasAdd(scope, Input({2, 3, 4, 5}), Input({3}), DataFormat::kNCHW));
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::BiasAdd(scope, Input({2, 3, 4, 5}), Input({5}), DataFormat::kNCHW);
              }),
              HasSubstr("bias [5] does not fit input [2,3,4,5] (NCHW), which has 3 channels"));
}

TEST_F(DenseOps, BiasGradientIsOneNodePerBias) {
  const Output x = Input({2, 5}), bias = Input({5});
  const Output y = ops::BiasAdd(scope, x, bias);
  EXPECT_EQ(NodeOf(Gradients(scope, y, {bias})[0]).kind, OpKind::kBiasAddGrad);
}

TEST_F(DenseOps, CrossEntropiesGiveOneLossPerRow) {
  const Output logits = Input({4, 10});
  const Output loss = ops::SparseSoftmaxCrossEntropyWithLogits(scope, logits, Input({4}, DType::kInt64));
  EXPECT_EQ(scope.shape(loss), (Shape{4}));
  EXPECT_EQ(graph.shape({loss.node, 1}), (Shape{4, 10}));
  EXPECT_EQ(scope.shape(Gradients(scope, loss, {logits})[0]), (Shape{4, 10}));
  const Output dense = ops::SoftmaxCrossEntropyWithLogits(scope, logits, Input({4, 10}));
  EXPECT_EQ(scope.shape(Gradients(scope, dense, {logits})[0]), (Shape{4, 10}));
}

TEST_F(DenseOps, CrossEntropyErrorsSayWhatLabelsAreNeeded) {
  const Output logits = Input({4, 10});
  EXPECT_THAT(testing::ErrorMessage([&] { ops::SparseSoftmaxCrossEntropyWithLogits(scope, logits, Input({4})); }),
              HasSubstr("labels must be int32 or int64, not float32"));
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::SparseSoftmaxCrossEntropyWithLogits(scope, logits, Input({4, 10}, DType::kInt32));
              }),
              HasSubstr("labels [4,10] do not fit logits [4,10]: one label for each row is needed"));
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::SoftmaxCrossEntropyWithLogits(scope, logits, Input({4, 9}));
              }),
              HasSubstr("labels is [4,9], but must be [4,10] as the logits are"));
}

TEST_F(DenseOps, SecondOutputOfACrossEntropyHasNoGradient) {
  const Output logits = Input({4, 10});
  const Output loss = ops::SparseSoftmaxCrossEntropyWithLogits(scope, logits, Input({4}, DType::kInt32));
  EXPECT_THAT(testing::ErrorMessage([&] { Gradients(scope, {loss.node, 1}, {logits}); }), HasSubstr("second output"));
}

TEST_F(DenseOps, UpdatesCheckEverySlotAndScalar) {
  const Output var = Var("w", {4}), accum = Var("w/Momentum", {4}), small = Var("small", {3});
  const Output grad = Input({4}), scalar = Input({});
  EXPECT_NO_THROW(ops::ApplyMomentum(scope, var, accum, scalar, grad, scalar, true));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::ApplyMomentum(scope, var, small, scalar, grad, scalar, true); }),
              HasSubstr("accum is [3], but var is [4]"));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::ApplyMomentum(scope, var, accum, grad, grad, scalar, true); }),
              HasSubstr("lr must be a scalar, not shape [4]"));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::ApplyMomentum(scope, var, grad, scalar, grad, scalar, true); }),
              HasSubstr("input 1 must be a variable"));
}

TEST_F(DenseOps, UpdateOutputsTheVariable) {
  const NodeId node = ops::ApplyGradientDescent(scope, Var("w", {2, 3}), Input({}), Input({2, 3}));
  EXPECT_EQ(graph.shape({node, 0}), (Shape{2, 3}));
}

}  // namespace
}  // namespace muster
