// Shape rules, errors and gradients of the operations that move elements, reduce, search and draw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "tests/graph/error_message.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ArrayOps : public ::testing::Test {
 protected:
  Output Input(const Shape& shape, DType dtype = DType::kFloat32) { return ops::Placeholder(scope, dtype, shape); }
  const Node& NodeOf(Output o) { return graph.node(o.node); }
  template <typename F>
  std::string Message(F call) {
    return testing::ErrorMessage(call);
  }

  Graph graph;
  Scope scope{&graph};
};

TEST_F(ArrayOps, ReshapeWorksOutOneDimension) {
  EXPECT_EQ(scope.shape(ops::Reshape(scope, Input({2, 3, 4}), {-1, 6})), (Shape{4, 6}));
  EXPECT_EQ(scope.shape(ops::Reshape(scope, Input({1}), {})), (Shape{}));
  EXPECT_EQ(scope.shape(ops::Reshape(scope, Input({0, 3}), {3, -1})), (Shape{3, 0}));
}

TEST_F(ArrayOps, ReshapeErrorsNameScopeAndShapes) {
  const Scope tower = scope.WithName("tower_0");
  const Output x = Input({2, 3});
  EXPECT_THAT(
      Message([&] {
        ops::Reshape(tower, x, {4, 2});
      }),
      AllOf(HasSubstr("Reshape tower_0/Reshape"), HasSubstr("cannot reshape [2,3] with 6 elements to [4,2] with 8")));
  EXPECT_THAT(
      Message([&] {
        ops::Reshape(tower, x, {-1, 4});
      }),
      AllOf(HasSubstr("tower_0/"), HasSubstr("cannot reshape [2,3] to [-1,4]: the elements do not divide evenly")));
  EXPECT_THAT(Message([&] { ops::Reshape(tower, x, {-1, -1}); }), HasSubstr("only one dimension may be -1"));
  EXPECT_THAT(Message([&] { ops::Reshape(tower, x, {-2}); }), HasSubstr("a dimension is negative"));
}

TEST_F(ArrayOps, NegativeAxesCountFromTheEnd) {
  const Output x = Input({2, 3, 4});
  EXPECT_EQ(scope.shape(ops::ExpandDims(scope, x, -1)), (Shape{2, 3, 4, 1}));
  EXPECT_EQ(scope.shape(ops::Concat(scope, {x, x}, -2)), (Shape{2, 6, 4}));
  EXPECT_EQ(scope.shape(ops::Pack(scope, {x, x}, -1)), (Shape{2, 3, 4, 2}));
  EXPECT_EQ(scope.shape(ops::Split(scope, x, -1, 2)[1]), (Shape{2, 3, 2}));
  EXPECT_EQ(scope.shape(ops::Sum(scope, x, {-1, 0})), (Shape{3}));
  EXPECT_EQ(scope.shape(ops::ArgMax(scope, x, -3)), (Shape{3, 4}));
  EXPECT_EQ(scope.shape(ops::Squeeze(scope, Input({2, 1}), {-1})), (Shape{2}));
}

TEST_F(ArrayOps, AxesOutOfRangeAreNamedAsTheyWereGiven) {
  const Output x = Input({2, 3});
  EXPECT_THAT(Message([&] { ops::Sum(scope, x, {2}); }), HasSubstr("axis 2 is out of range for rank 2"));
  EXPECT_THAT(Message([&] { ops::ArgMax(scope, x, -3); }), HasSubstr("axis -3 is out of range for rank 2"));
  EXPECT_THAT(Message([&] { ops::Concat(scope, {x, x}, 5); }), HasSubstr("axis 5 is out of range for rank 2"));
  EXPECT_THAT(Message([&] { ops::Split(scope, x, 2, 1); }), HasSubstr("axis 2 is out of range for rank 2"));
  EXPECT_THAT(Message([&] { ops::Sum(scope, x, {0, -2}); }), HasSubstr("axes [0,0] name an axis twice"));
}

TEST_F(ArrayOps, TransposeWantsAPermutation) {
  EXPECT_EQ(scope.shape(ops::Transpose(scope, Input({2, 3, 4}), {2, 0, 1})), (Shape{4, 2, 3}));
  EXPECT_THAT(Message([&] {
                ops::Transpose(scope, Input({2, 3}), {0, 0});
              }),
              HasSubstr("perm [0,0] does not name each axis once"));
  EXPECT_THAT(Message([&] {
                ops::Transpose(scope, Input({2, 3}), {0});
              }),
              HasSubstr("perm has 1 entries for shape [2,3], needs one per axis"));
}

TEST_F(ArrayOps, SqueezeRemovesOnlyOnes) {
  EXPECT_EQ(scope.shape(ops::Squeeze(scope, Input({1, 3, 1}))), (Shape{3}));
  EXPECT_EQ(scope.shape(ops::Squeeze(scope, Input({1, 3, 1}), {2})), (Shape{1, 3}));
  EXPECT_THAT(Message([&] {
                ops::Squeeze(scope, Input({1, 3}), {1});
              }),
              HasSubstr("axis 1 of [1,3] has size 3, not 1"));
}

TEST_F(ArrayOps, ConcatErrorNamesBothShapes) {
  EXPECT_THAT(Message([&] {
                ops::Concat(scope, {Input({2, 3}), Input({2, 4})}, 0);
              }),
              HasSubstr("shapes [2,3] and [2,4] differ in more than axis 0"));
  EXPECT_THAT(Message([&] { ops::Concat(scope, {Input({2, 3}), Input({2})}, 0); }), HasSubstr("[2,3] and [2]"));
}

TEST_F(ArrayOps, SplitErrorsSayWhatDoesNotAddUp) {
  EXPECT_THAT(Message([&] {
                ops::Split(scope, Input({2, 7}), 1, 3);
              }),
              HasSubstr("axis 1 of [2,7] does not split into 3 equal pieces"));
  EXPECT_THAT(Message([&] {
                ops::SplitV(scope, Input({2, 7}), 1, {3, 3});
              }),
              HasSubstr("axis 1 of [2,7] has size 7, the pieces [3,3] do not add up to it"));
}

TEST_F(ArrayOps, SliceStaysInside) {
  EXPECT_THAT(Message([&] { ops::Slice(scope, Input({4}), {std::numeric_limits<int64_t>::max()}, {1}); }),
              HasSubstr("leave axis 0 of [4]"));
  EXPECT_EQ(scope.shape(ops::Slice(scope, Input({4, 5}), {1, 2}, {-1, 2})), (Shape{3, 2}));
  EXPECT_THAT(Message([&] {
                ops::Slice(scope, Input({4, 5}), {1, 2}, {4, 1});
              }),
              HasSubstr("begin 1 and size 4 leave axis 0 of [4,5]"));
}

TEST_F(ArrayOps, MirroringPadsNoMoreThanThereIs) {
  const Output x = Input({3});
  EXPECT_EQ(scope.shape(ops::Pad(scope, x, {{2, 2}}, PadMode::kReflect)), (Shape{7}));
  EXPECT_EQ(scope.shape(ops::Pad(scope, x, {{3, 3}}, PadMode::kSymmetric)), (Shape{9}));
  EXPECT_THAT(Message([&] { ops::Pad(scope, x, {{3, 0}}, PadMode::kReflect); }), HasSubstr("is more than 2"));
  EXPECT_THAT(Message([&] { ops::Pad(scope, x, {{0, 4}}, PadMode::kSymmetric); }), HasSubstr("is more than 3"));
  EXPECT_THAT(Message([&] { ops::Pad(scope, x, {{-1, 0}}); }), HasSubstr("padding -1 of axis 0 is negative"));
}

TEST_F(ArrayOps, BroadcastToOnlyStretches) {
  EXPECT_THAT(Message([&] {
                ops::BroadcastTo(scope, Input({2, 3}), {3});
              }),
              HasSubstr("[2,3] does not broadcast to [3]"));
  EXPECT_THAT(Message([&] { ops::BroadcastTo(scope, Input({2}), {3}); }), HasSubstr("do not broadcast"));
}

TEST_F(ArrayOps, OneHotWantsIndices) {
  const Output y = ops::OneHot(scope, Input({2, 3}, DType::kInt64), 5, 1, 0, DType::kFloat64);
  EXPECT_EQ(graph.desc(y).ToString(), "float64[2,3,5]");
  EXPECT_THAT(Message([&] { ops::OneHot(scope, Input({2}), 5); }),
              HasSubstr("input 0 must be int32 or int64, not float32"));
}

TEST_F(ArrayOps, TopKWantsThatMany) {
  EXPECT_THAT(Message([&] {
                ops::TopK(scope, Input({2, 3}), 4);
              }),
              HasSubstr("k is 4, but the last axis of [2,3] has 3 elements"));
  const Output top = ops::TopK(scope, Input({2, 3}), 2);
  EXPECT_EQ(graph.desc({top.node, 1}).ToString(), "int32[2,2]");
}

TEST_F(ArrayOps, InTopKWantsATargetPerRow) {
  EXPECT_THAT(Message([&] {
                ops::InTopK(scope, Input({2, 3}), Input({4}, DType::kInt32), 1);
              }),
              HasSubstr("predictions [2,3] and targets [4] differ in the batch"));
}

TEST_F(ArrayOps, RandomOperationsCheckTypeAndRange) {
  EXPECT_THAT(Message([&] { ops::RandomUniform(scope, DType::kInt32, {2}); }),
              HasSubstr("draws floating-point numbers, not int32"));
  EXPECT_THAT(Message([&] { ops::RandomUniformInt(scope, DType::kInt32, {2}, 3, 3); }),
              HasSubstr("minval 3 must be less than maxval 3"));
  EXPECT_THAT(Message([&] { ops::RandomUniformInt(scope, DType::kInt32, {2}, 0, int64_t{1} << 40); }),
              HasSubstr("int32 does not hold"));
}

TEST_F(ArrayOps, GradientOfAScalarLossIsOneBroadcast) {
  const Output x = Input({4, 5});
  const Node dx = NodeOf(Gradients(scope, ops::Sum(scope, x), {x})[0]);
  EXPECT_EQ(dx.kind, OpKind::kBroadcastTo);
  EXPECT_EQ(NodeOf(dx.inputs[0]).kind, OpKind::kFill);
}

TEST_F(ArrayOps, GradientsOfSlicingNothingAwayAddNoNode) {
  const Output x = Input({4, 5}), dy = Input({4, 5});
  EXPECT_EQ(Gradients(scope, ops::Slice(scope, x, {0, 0}, {-1, -1}), {x}, dy)[0], dy);
  EXPECT_EQ(Gradients(scope, ops::Pad(scope, x, {{0, 0}, {0, 0}}), {x}, dy)[0], dy);
  EXPECT_EQ(Gradients(scope, ops::Tile(scope, x, {1, 1}), {x}, dy)[0], dy);
  EXPECT_EQ(Gradients(scope, ops::Reshape(scope, x, {4, 5}), {x}, dy)[0], dy);
}

TEST_F(ArrayOps, GradientOfConcatIsOneSplit) {
  const Output a = Input({2, 1}), b = Input({2, 3});
  const auto grads = Gradients(scope, ops::Concat(scope, {a, b}, 1), {a, b});
  EXPECT_EQ(grads[0].node, grads[1].node);
  EXPECT_THAT(NodeOf(grads[0]).attr<SplitAttrs>().sizes, ElementsAre(1, 3));
}

}  // namespace
}  // namespace muster
