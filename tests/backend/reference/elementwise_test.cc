// Element-wise operations and activations: closed forms, special numbers, every type.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/reference/reference_table.h"
#include "muster/error.h"
#include "tests/backend/testing/run_op.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using testing::RunOp;
using testing::ToDoubles;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

using Values = std::vector<double>;

Values Result(OpKind kind, const std::vector<Tensor>& inputs, const Attrs& attrs = NoAttrs{}) {
  return ToDoubles(RunOp(ReferenceTable(), {kind, attrs, inputs})[0]);
}

// The same operation on vectors of every given type.
Values Binary(OpKind kind, DType dtype, const Values& a, const Values& b) {
  const auto tensor = [&](const Values& v) {
    return testing::Converted(Tensor::Of<double>({static_cast<int64_t>(v.size())}, v), dtype);
  };
  return Result(kind, {tensor(a), tensor(b)});
}
Values Unary(OpKind kind, const Values& x, DType dtype = DType::kFloat64) {
  return Result(kind, {testing::Converted(Tensor::Of<double>({static_cast<int64_t>(x.size())}, x), dtype)});
}

TEST(ReferenceElementwise, ArithmeticIsTheSameForEveryType) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt8}) {
    const Values a{7, 6, 9}, b{2, 3, 4};
    EXPECT_THAT(Binary(OpKind::kAdd, dtype, a, b), ElementsAre(9, 9, 13)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kSub, dtype, a, b), ElementsAre(5, 3, 5)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kMul, dtype, a, b), ElementsAre(14, 18, 36)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kPow, dtype, {3, 2, 1}, b), ElementsAre(9, 8, 1)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kMaximum, dtype, a, {8, 6, 2}), ElementsAre(8, 6, 9)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kMinimum, dtype, a, {8, 6, 2}), ElementsAre(7, 6, 2)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kSquaredDifference, dtype, a, b), ElementsAre(25, 9, 25)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kEqual, dtype, a, {7, 0, 9}), ElementsAre(1, 0, 1)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kNotEqual, dtype, a, {7, 0, 9}), ElementsAre(0, 1, 0)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kLess, dtype, a, {7, 8, 1}), ElementsAre(0, 1, 0)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kLessEqual, dtype, a, {7, 8, 1}), ElementsAre(1, 1, 0)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kGreater, dtype, a, {7, 8, 1}), ElementsAre(0, 0, 1)) << DTypeName(dtype);
    EXPECT_THAT(Binary(OpKind::kGreaterEqual, dtype, a, {7, 8, 1}), ElementsAre(1, 0, 1)) << DTypeName(dtype);
  }
}

TEST(ReferenceElementwise, BroadcastingRepeatsTheSmallerInput) {
  const Tensor a = Tensor::Of<int32_t>({2, 1, 2}, {1, 2, 3, 4}), b = Tensor::Of<int32_t>({3, 1}, {10, 20, 30});
  EXPECT_THAT(Result(OpKind::kAdd, {a, b}), ElementsAre(11, 12, 21, 22, 31, 32, 13, 14, 23, 24, 33, 34));
  EXPECT_THAT(Result(OpKind::kSub, {Tensor::Scalar<int32_t>(1), b}), ElementsAre(-9, -19, -29));
}

TEST(ReferenceElementwise, NothingIsDoneForEmptyTensors) {
  EXPECT_THAT(Result(OpKind::kAdd, {Tensor(DType::kFloat32, {0, 3}), Tensor(DType::kFloat32, {1})}), ElementsAre());
}

TEST(ReferenceElementwise, IntegersDivideTowardsZeroAndWrapAround) {
  const Tensor a = Tensor::Of<int32_t>({4}, {7, -7, INT32_MIN, 5}), b = Tensor::Of<int32_t>({4}, {2, 2, -1, -5});
  EXPECT_THAT(Result(OpKind::kDiv, {a, b}), ElementsAre(3, -3, INT32_MIN, -1));
  EXPECT_THAT(Result(OpKind::kAdd, {Tensor::Scalar<int32_t>(INT32_MAX), Tensor::Scalar<int32_t>(1)}),
              ElementsAre(INT32_MIN));
  EXPECT_THROW(Result(OpKind::kDiv, {a, Tensor::Scalar<int32_t>(0)}), Error);
  EXPECT_THROW(Result(OpKind::kPow, {a, Tensor::Scalar<int32_t>(-1)}), Error);
}

TEST(ReferenceElementwise, MaximumAndMinimumKeepNaN) {
  for (OpKind kind : {OpKind::kMaximum, OpKind::kMinimum}) {
    const Values y = Binary(kind, DType::kFloat32, {kNan, 1}, {1, kNan});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << OpName(kind);
  }
}

TEST(ReferenceElementwise, LogicFollowsItsTruthTables) {
  const Tensor a = Tensor::Of<bool>({4}, {false, false, true, true}),
               b = Tensor::Of<bool>({4}, {false, true, false, true});
  EXPECT_THAT(Result(OpKind::kLogicalAnd, {a, b}), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(Result(OpKind::kLogicalOr, {a, b}), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(Result(OpKind::kLogicalNot, {a}), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(Result(OpKind::kEqual, {a, b}), ElementsAre(1, 0, 0, 1));
}

TEST(ReferenceElementwise, FunctionsOfOneInputHaveTheirClosedForms) {
  EXPECT_THAT(Unary(OpKind::kSquare, {-3, 4}), ElementsAre(9, 16));
  EXPECT_THAT(Unary(OpKind::kSqrt, {4, 2}), ElementsAre(2, std::sqrt(2.0)));
  EXPECT_THAT(Unary(OpKind::kRsqrt, {4, 0}), ElementsAre(0.5, kInf));
  EXPECT_THAT(Unary(OpKind::kReciprocal, {4, -0.5}), ElementsAre(0.25, -2));
  EXPECT_THAT(Unary(OpKind::kExp, {0, 1}), ElementsAre(1, std::exp(1.0)));
  EXPECT_THAT(Unary(OpKind::kLog, {1, 0}), ElementsAre(0, -kInf));
  EXPECT_THAT(Unary(OpKind::kCos, {0}), ElementsAre(1));
  EXPECT_THAT(Unary(OpKind::kSin, {0}), ElementsAre(0));
  EXPECT_THAT(Unary(OpKind::kFloor, {1.5, -1.5}), ElementsAre(1, -2));
  EXPECT_THAT(Unary(OpKind::kCeil, {1.5, -1.5}), ElementsAre(2, -1));
  EXPECT_THAT(Unary(OpKind::kIsFinite, {1, kInf, kNan}), ElementsAre(1, 0, 0));
  for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64}) {
    EXPECT_THAT(Unary(OpKind::kNeg, {-3, 4}, dtype), ElementsAre(3, -4)) << DTypeName(dtype);
    EXPECT_THAT(Unary(OpKind::kAbs, {-3, 4}, dtype), ElementsAre(3, 4)) << DTypeName(dtype);
    EXPECT_THAT(Unary(OpKind::kSign, {-3, 0, 4}, dtype), ElementsAre(-1, 0, 1)) << DTypeName(dtype);
  }
}

TEST(ReferenceElementwise, SelectMovesEveryType) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt32, DType::kInt64,
                      DType::kUInt8, DType::kBool}) {
    const auto tensor = [&](std::initializer_list<float> v) {
      return testing::Converted(Tensor::Of<float>({3}, v), dtype);
    };
    const Tensor a = tensor({1, 1, 0}), b = tensor({0, 1, 1});
    EXPECT_THAT(Result(OpKind::kSelect, {Tensor::Of<bool>({3}, {true, false, false}), a, b}), ElementsAre(1, 1, 1))
        << DTypeName(dtype);
    EXPECT_THAT(Result(OpKind::kSelect, {Tensor::Scalar(true), a, b}), ElementsAre(1, 1, 0)) << DTypeName(dtype);
  }
}

TEST(ReferenceElementwise, AddNAddsInDoubleAndRoundsOnce) {
  const Tensor big = Tensor::Of<float>({1}, {1e8f}), one = Tensor::Of<float>({1}, {1}),
               minus = Tensor::Of<float>({1}, {-1e8f});
  EXPECT_THAT(Result(OpKind::kAddN, {big, one, minus}), ElementsAre(1));
  EXPECT_THAT(Result(OpKind::kAddN, {one}), ElementsAre(1));
}

TEST(ReferenceCast, FloatsBecomeIntegersTowardsZeroAndWithinRange) {
  const Tensor x = Tensor::Of<float>({6}, {1.9f, -1.9f, 3e9f, -3e9f, 300, static_cast<float>(kNan)});
  EXPECT_THAT(Result(OpKind::kCast, {x}, CastAttrs{DType::kInt32}), ElementsAre(1, -1, INT32_MAX, INT32_MIN, 300, 0));
  EXPECT_THAT(Result(OpKind::kCast, {x}, CastAttrs{DType::kUInt8}), ElementsAre(1, 0, 255, 0, 255, 0));
  EXPECT_THAT(Result(OpKind::kCast, {x}, CastAttrs{DType::kBool}), ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST(ReferenceCast, EveryPairOfTypesKeepsSmallNumbers) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                              DType::kInt32,   DType::kInt64,   DType::kUInt8,   DType::kBool};
  for (DType from : kTypes)
    for (DType to : kTypes)
      EXPECT_THAT(Result(OpKind::kCast, {testing::Converted(Tensor::Of<float>({2}, {0, 1}), from)}, CastAttrs{to}),
                  ElementsAre(0, 1))
          << DTypeName(from) << " to " << DTypeName(to);
}

TEST(ReferenceActivation, ValuesAtAndAroundTheirKinks) {
  EXPECT_THAT(Unary(OpKind::kRelu, {-1, 0, 2}), ElementsAre(0, 0, 2));
  EXPECT_THAT(Unary(OpKind::kRelu6, {-1, 0, 5, 6, 7}), ElementsAre(0, 0, 5, 6, 6));
  EXPECT_TRUE(std::isnan(Unary(OpKind::kRelu, {kNan})[0]));
  EXPECT_THAT(Unary(OpKind::kSigmoid, {0, 1000, -1000}), ElementsAre(0.5, 1, 0));
  EXPECT_THAT(Unary(OpKind::kTanh, {0, 1000}), ElementsAre(0, 1));
  EXPECT_THAT(Unary(OpKind::kSoftplus, {0, 1000, -1000}), ElementsAre(std::log(2.0), 1000, 0));
}

TEST(ReferenceActivation, GradientsTakeTensorFlowsOrderOfInputs) {
  const DType f = DType::kFloat32;
  EXPECT_THAT(Binary(OpKind::kReluGrad, f, {3, 3, 3}, {-1, 0, 2}), ElementsAre(0, 0, 3));
  EXPECT_THAT(Binary(OpKind::kRelu6Grad, f, {3, 3, 3, 3}, {0, 1, 6, 7}), ElementsAre(0, 3, 0, 0));
  EXPECT_THAT(Binary(OpKind::kSigmoidGrad, f, {0.5, 0.25}, {4, 16}), ElementsAre(1, 3));
  EXPECT_THAT(Binary(OpKind::kTanhGrad, f, {0.5, 0}, {4, 7}), ElementsAre(3, 7));
  EXPECT_THAT(Binary(OpKind::kSoftplusGrad, f, {4, 5}, {0, 1000}), ElementsAre(2, 5));
}

}  // namespace
}  // namespace muster
