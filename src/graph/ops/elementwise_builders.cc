// The element-wise part of muster/ops/math.h.

#include "muster/ops/math.h"

namespace muster::ops {

Output Add(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kAdd, {a, b}); }
Output Sub(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kSub, {a, b}); }
Output Mul(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kMul, {a, b}); }
Output Div(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kDiv, {a, b}); }
Output Pow(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kPow, {a, b}); }
Output Maximum(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kMaximum, {a, b}); }
Output Minimum(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kMinimum, {a, b}); }
Output SquaredDifference(const Scope& scope, Output a, Output b) {
  return scope.AddOp(OpKind::kSquaredDifference, {a, b});
}

Output Equal(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kEqual, {a, b}); }
Output NotEqual(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kNotEqual, {a, b}); }
Output Less(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kLess, {a, b}); }
Output LessEqual(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kLessEqual, {a, b}); }
Output Greater(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kGreater, {a, b}); }
Output GreaterEqual(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kGreaterEqual, {a, b}); }
Output LogicalAnd(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kLogicalAnd, {a, b}); }
Output LogicalOr(const Scope& scope, Output a, Output b) { return scope.AddOp(OpKind::kLogicalOr, {a, b}); }
Output LogicalNot(const Scope& scope, Output a) { return scope.AddOp(OpKind::kLogicalNot, {a}); }

Output Neg(const Scope& scope, Output x) { return scope.AddOp(OpKind::kNeg, {x}); }
Output Square(const Scope& scope, Output x) { return scope.AddOp(OpKind::kSquare, {x}); }
Output Sqrt(const Scope& scope, Output x) { return scope.AddOp(OpKind::kSqrt, {x}); }
Output Rsqrt(const Scope& scope, Output x) { return scope.AddOp(OpKind::kRsqrt, {x}); }
Output Reciprocal(const Scope& scope, Output x) { return scope.AddOp(OpKind::kReciprocal, {x}); }
Output Abs(const Scope& scope, Output x) { return scope.AddOp(OpKind::kAbs, {x}); }
Output Sign(const Scope& scope, Output x) { return scope.AddOp(OpKind::kSign, {x}); }
Output Exp(const Scope& scope, Output x) { return scope.AddOp(OpKind::kExp, {x}); }
Output Log(const Scope& scope, Output x) { return scope.AddOp(OpKind::kLog, {x}); }
Output Cos(const Scope& scope, Output x) { return scope.AddOp(OpKind::kCos, {x}); }
Output Sin(const Scope& scope, Output x) { return scope.AddOp(OpKind::kSin, {x}); }
Output Floor(const Scope& scope, Output x) { return scope.AddOp(OpKind::kFloor, {x}); }
Output Ceil(const Scope& scope, Output x) { return scope.AddOp(OpKind::kCeil, {x}); }
Output IsFinite(const Scope& scope, Output x) { return scope.AddOp(OpKind::kIsFinite, {x}); }
Output Cast(const Scope& scope, Output x, DType to) { return scope.AddOp(OpKind::kCast, {x}, CastAttrs{to}); }

Output Select(const Scope& scope, Output condition, Output a, Output b) {
  return scope.AddOp(OpKind::kSelect, {condition, a, b});
}

Output AddN(const Scope& scope, const std::vector<Output>& inputs) { return scope.AddOp(OpKind::kAddN, inputs); }

}  // namespace muster::ops
