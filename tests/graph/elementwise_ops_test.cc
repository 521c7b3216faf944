// Shape rules, errors and the economy of gradients of element-wise operations, activations and their composites.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "tests/graph/error_message.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ElementwiseOps : public ::testing::Test {
 protected:
  Output Input(const Shape& shape, DType dtype = DType::kFloat32) { return ops::Placeholder(scope, dtype, shape); }
  OpKind KindOf(Output o) { return graph.node(o.node).kind; }
  // The nodes that Gradients adds besides the upstream gradient.
  int NodesFor(Output y, const std::vector<Output>& xs) {
    const Output dy = Input(scope.shape(y), scope.dtype(y));
    const int before = graph.num_nodes();
    Gradients(scope, y, xs, dy);
    return graph.num_nodes() - before;
  }

  Graph graph;
  Scope scope{&graph};
};

TEST_F(ElementwiseOps, TwoInputsBroadcastAsInNumPy) {
  EXPECT_EQ(scope.shape(ops::Add(scope, Input({2, 1, 3}), Input({4, 1}))), (Shape{2, 4, 3}));
  EXPECT_EQ(scope.shape(ops::Mul(scope, Input({}), Input({5}))), (Shape{5}));
  EXPECT_EQ(scope.shape(ops::Sub(scope, Input({0, 3}), Input({1}))), (Shape{0, 3}));
}

TEST_F(ElementwiseOps, MismatchNamesOperationScopeAndBothShapes) {
  const Scope tower = scope.WithName("tower_0").Named("sum");
  const Output a = Input({2, 3}), b = Input({4, 3});
  EXPECT_THAT(
      testing::ErrorMessage([&] { ops::Add(tower, a, b); }),
      AllOf(HasSubstr("Add tower_0/sum"), HasSubstr("[2,3]"), HasSubstr("[4,3]"), HasSubstr("do not broadcast")));
}

TEST_F(ElementwiseOps, DTypesMustFit) {
  const Output f = Input({2}), i = Input({2}, DType::kInt32), b = Input({2}, DType::kBool);
  EXPECT_THAT(testing::ErrorMessage([&] { ops::Add(scope, f, i); }),
              HasSubstr("input 1 is int32, but input 0 is float32"));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::Add(scope, b, b); }), HasSubstr("input 0 must be a number, not bool"));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::Sqrt(scope, i); }),
              HasSubstr("input 0 must be floating point, not int32"));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::LogicalAnd(scope, f, f); }),
              HasSubstr("input 0 must be bool, not float32"));
  EXPECT_NO_THROW(ops::Equal(scope, b, b));
  EXPECT_THROW(ops::Less(scope, b, b), Error);
}

TEST_F(ElementwiseOps, ComparisonsGiveBool) {
  EXPECT_EQ(scope.dtype(ops::Less(scope, Input({2}), Input({}))), DType::kBool);
  EXPECT_EQ(scope.dtype(ops::IsFinite(scope, Input({2}))), DType::kBool);
}

TEST_F(ElementwiseOps, SelectTakesAScalarOrAnEqualCondition) {
  const Output a = Input({2, 3});
  EXPECT_NO_THROW(ops::Select(scope, Input({}, DType::kBool), a, a));
  EXPECT_NO_THROW(ops::Select(scope, Input({2, 3}, DType::kBool), a, a));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::Select(scope, Input({3}, DType::kBool), a, a); }),
              HasSubstr("the condition must be a scalar or have the choices' shape [2,3], not [3]"));
  EXPECT_THAT(testing::ErrorMessage([&] { ops::Select(scope, Input({}, DType::kBool), a, Input({2})); }),
              HasSubstr("both choices must be alike, got float32[2,3] and float32[2]"));
}

TEST_F(ElementwiseOps, AddNWantsEqualShapes) {
  EXPECT_THAT(testing::ErrorMessage([&] {
                ops::AddN(scope, {Input({2, 3}), Input({3})});
              }),
              HasSubstr("input 1 is [3], but input 0 is [2,3]"));
  EXPECT_THROW(ops::AddN(scope, {}), Error);
}

TEST_F(ElementwiseOps, GradientOfAnEqualAdditionAddsNoNode) {
  const Output a = Input({2, 3}), b = Input({2, 3});
  EXPECT_EQ(NodesFor(ops::Add(scope, a, b), {a, b}), 0);
  EXPECT_EQ(NodesFor(ops::AddN(scope, {a, b}), {a, b}), 0);
  EXPECT_EQ(NodesFor(ops::Sub(scope, a, b), {a, b}), 1);
  EXPECT_EQ(NodesFor(ops::Mul(scope, a, b), {a, b}), 2);
}

TEST_F(ElementwiseOps, GradientOfABroadcastRowIsOneSum) {
  const Output a = Input({4, 2, 3}), b = Input({3});
  const Output y = ops::Add(scope, a, b);
  EXPECT_EQ(NodesFor(y, {a, b}), 1);
  const Output db = Gradients(scope, y, {b})[0];
  EXPECT_EQ(KindOf(db), OpKind::kSum);
  EXPECT_EQ(scope.shape(db), (Shape{3}));
}

TEST_F(ElementwiseOps, ActivationGradientsReadTheOutputWhereItServes) {
  const Output x = Input({4});
  for (const auto& op : {ops::Relu, ops::Relu6, ops::Sigmoid, ops::Tanh}) {
    const Output y = op(scope, x);
    EXPECT_EQ(NodesFor(y, {x}), 1);
    const std::vector<Output> inputs = graph.node(Gradients(scope, y, {x})[0].node).inputs;
    EXPECT_THAT(inputs, ::testing::Contains(y)) << OpName(KindOf(y));
    EXPECT_THAT(inputs, ::testing::Not(::testing::Contains(x))) << OpName(KindOf(y));
  }
}

TEST_F(ElementwiseOps, NoGradientFlowsThroughComparisonsOrIntegers) {
  const Output x = Input({4});
  const Output mask =
      ops::Cast(scope, ops::Greater(scope, x, ops::ScalarLike(scope, 0, DType::kFloat32)), DType::kFloat32);
  EXPECT_FALSE(Gradients(scope, mask, {x})[0].is_valid());
  const Output whole = ops::Cast(scope, ops::Cast(scope, x, DType::kInt32), DType::kFloat32);
  EXPECT_FALSE(Gradients(scope, whole, {x})[0].is_valid());
  EXPECT_FALSE(Gradients(scope, ops::Floor(scope, x), {x})[0].is_valid());
}

TEST_F(ElementwiseOps, GradientOfACastHasTheTypeItCameFrom) {
  const Output x = Input({4}, DType::kFloat64);
  const Output dx = Gradients(scope, ops::Cast(scope, x, DType::kFloat32), {x})[0];
  EXPECT_EQ(scope.dtype(dx), DType::kFloat64);
}

TEST_F(ElementwiseOps, DropoutWantsAProbability) {
  for (double keep : {0.0, -0.5, 1.5})
    EXPECT_THAT(testing::ErrorMessage([&] { ops::Dropout(scope, Input({4}), keep); }),
                HasSubstr("keep_prob must be in (0, 1]"));
}

TEST_F(ElementwiseOps, DropoutsBackwardPassIsOneMultiplication) {
  const Output x = Input({4});
  const Output y = ops::Dropout(scope, x, 0.5);
  const Node dx = graph.node(Gradients(scope, y, {x})[0].node);
  EXPECT_EQ(dx.kind, OpKind::kMul);
  EXPECT_EQ(dx.inputs[1], graph.node(y.node).inputs[1]) << "the forward pass' own factor";
}

}  // namespace
}  // namespace muster
