// Element-wise operations: table, shape rules. Gradients are in elementwise_gradients.cc.

#include <fmt/format.h>

#include "graph/op_def.h"
#include "graph/ops/elementwise_gradients.h"
#include "graph/ops/gradient_rules.h"
#include "graph/ops/shape_checks.h"

namespace muster {
namespace {

std::vector<TensorDesc> BinaryShape(const ShapeContext& c) {
  RequireSameDType(c);
  RequireNumbers(c, 0);
  return {{c.dtype(0), BroadcastShapes(c.shape(0), c.shape(1)), {}}};
}

std::vector<TensorDesc> EqualShape(const ShapeContext& c) {
  RequireSameDType(c);
  return {{DType::kBool, BroadcastShapes(c.shape(0), c.shape(1)), {}}};
}

std::vector<TensorDesc> OrderShape(const ShapeContext& c) {
  RequireNumbers(c, 0);
  return EqualShape(c);
}

std::vector<TensorDesc> LogicShape(const ShapeContext& c) {
  RequireBool(c, 0);
  return EqualShape(c);
}

std::vector<TensorDesc> LogicalNotShape(const ShapeContext& c) {
  RequireBool(c, 0);
  return SameAsInput(c);
}

std::vector<TensorDesc> IsFiniteShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  return {{DType::kBool, c.shape(0), {}}};
}

std::vector<TensorDesc> CastShape(const ShapeContext& c) { return {{c.attr<CastAttrs>().to, c.shape(0), {}}}; }

std::vector<TensorDesc> SelectShape(const ShapeContext& c) {
  RequireBool(c, 0);
  if (c.dtype(1) != c.dtype(2) || !(c.shape(1) == c.shape(2)))
    throw InvalidArgument(
        fmt::format("both choices must be alike, got {} and {}", c.inputs[1].ToString(), c.inputs[2].ToString()));
  if (c.shape(0).rank() != 0 && !(c.shape(0) == c.shape(1)))
    throw InvalidArgument(fmt::format("the condition must be a scalar or have the choices' shape {}, not {}",
                                      c.shape(1).ToString(), c.shape(0).ToString()));
  return {c.inputs[1]};
}

std::vector<TensorDesc> AddNShape(const ShapeContext& c) {
  RequireNumbers(c, 0);
  RequireAlike(c);
  return SameAsInput(c);
}

constexpr OpDef Binary(OpKind kind, GradientRule gradient) {
  return {.kind = kind, .min_inputs = 2, .max_inputs = 2, .shape_rule = BinaryShape, .gradient = gradient};
}
constexpr OpDef Compare(OpKind kind, ShapeRule shape_rule) {
  return {.kind = kind, .min_inputs = 2, .max_inputs = 2, .shape_rule = shape_rule, .gradient = NoGradient};
}
constexpr OpDef Unary(OpKind kind, ShapeRule shape_rule, GradientRule gradient) {
  return {.kind = kind, .min_inputs = 1, .max_inputs = 1, .shape_rule = shape_rule, .gradient = gradient};
}

constexpr OpDef kElementwiseOps[] = {
    Binary(OpKind::kAdd, AddGradient),
    Binary(OpKind::kSub, SubGradient),
    Binary(OpKind::kMul, MulGradient),
    Binary(OpKind::kDiv, DivGradient),
    Binary(OpKind::kPow, PowGradient),
    Binary(OpKind::kMaximum, MaximumGradient),
    Binary(OpKind::kMinimum, MinimumGradient),
    Binary(OpKind::kSquaredDifference, SquaredDifferenceGradient),
    Compare(OpKind::kEqual, EqualShape),
    Compare(OpKind::kNotEqual, EqualShape),
    Compare(OpKind::kLess, OrderShape),
    Compare(OpKind::kLessEqual, OrderShape),
    Compare(OpKind::kGreater, OrderShape),
    Compare(OpKind::kGreaterEqual, OrderShape),
    Compare(OpKind::kLogicalAnd, LogicShape),
    Compare(OpKind::kLogicalOr, LogicShape),
    Unary(OpKind::kLogicalNot, LogicalNotShape, NoGradient),
    Unary(OpKind::kNeg, NumberShape, NegGradient),
    Unary(OpKind::kSquare, NumberShape, SquareGradient),
    Unary(OpKind::kSqrt, FloatShape, SqrtGradient),
    Unary(OpKind::kRsqrt, FloatShape, RsqrtGradient),
    Unary(OpKind::kReciprocal, FloatShape, ReciprocalGradient),
    Unary(OpKind::kAbs, NumberShape, AbsGradient),
    Unary(OpKind::kSign, NumberShape, NoGradient),
    Unary(OpKind::kExp, FloatShape, ExpGradient),
    Unary(OpKind::kLog, FloatShape, LogGradient),
    Unary(OpKind::kCos, FloatShape, CosGradient),
    Unary(OpKind::kSin, FloatShape, SinGradient),
    Unary(OpKind::kFloor, FloatShape, NoGradient),
    Unary(OpKind::kCeil, FloatShape, NoGradient),
    Unary(OpKind::kIsFinite, IsFiniteShape, NoGradient),
    Unary(OpKind::kCast, CastShape, CastGradient),
    {.kind = OpKind::kSelect, .min_inputs = 3, .max_inputs = 3, .shape_rule = SelectShape, .gradient = SelectGradient},
    {.kind = OpKind::kAddN, .min_inputs = 1, .max_inputs = -1, .shape_rule = AddNShape, .gradient = AddNGradient},
};

}  // namespace

std::span<const OpDef> ElementwiseOps() { return kElementwiseOps; }

}  // namespace muster
