#include "muster/ops.h"
#include "tests/graph/gradient_cases.h"

namespace muster::testing {
namespace {

using Outputs = std::vector<Output>;
using UnaryOp = Output (*)(const Scope&, Output);
using BinaryOp = Output (*)(const Scope&, Output, Output);

// Every way in which two shapes broadcast.
void AddBinary(std::vector<GradientCase>& cases, OpKind kind, BinaryOp op, double low = -1, double high = 1) {
  const auto build = [op](const Scope& s, const Outputs& x) { return Outputs{op(s, x[0], x[1])}; };
  cases.push_back({kind, "same", {{2, 3}, {2, 3}}, build, low, high});
  cases.push_back({kind, "row", {{2, 3}, {3}}, build, low, high});
  cases.push_back({kind, "outer", {{2, 1, 3}, {4, 1}}, build, low, high});
  cases.push_back({kind, "scalar", {{}, {2, 3}}, build, low, high});
  cases.push_back({kind, "ones", {{2, 3}, {1, 1, 1}}, build, low, high});
}

void AddUnary(std::vector<GradientCase>& cases, OpKind kind, UnaryOp op, double low = -1, double high = 1) {
  cases.push_back(
      {kind, "plain", {{3, 5}}, [op](const Scope& s, const Outputs& x) { return Outputs{op(s, x[0])}; }, low, high});
}

// The *Grad operations themselves, for second derivatives.
void AddSecond(std::vector<GradientCase>& cases, OpKind kind, double low = -1, double high = 1) {
  cases.push_back({kind,
                   "second",
                   {{3, 4}, {3, 4}},
                   [kind](const Scope& s, const Outputs& x) {
                     return Outputs{s.AddOp(kind, {x[0], x[1]})};
                   },
                   low,
                   high});
}

Output HalfChosen(const Scope& s) {
  return ops::Const(s, Tensor::Of<bool>({2, 3}, {true, false, true, true, false, false}));
}

}  // namespace

std::vector<GradientCase> ElementwiseGradientCases() {
  std::vector<GradientCase> cases;
  AddBinary(cases, OpKind::kAdd, ops::Add);
  AddBinary(cases, OpKind::kSub, ops::Sub);
  AddBinary(cases, OpKind::kMul, ops::Mul);
  AddBinary(cases, OpKind::kDiv, ops::Div, 0.5, 2);
  AddBinary(cases, OpKind::kPow, ops::Pow, 0.3, 2);
  AddBinary(cases, OpKind::kMaximum, ops::Maximum);
  AddBinary(cases, OpKind::kMinimum, ops::Minimum);
  AddBinary(cases, OpKind::kSquaredDifference, ops::SquaredDifference);
  AddUnary(cases, OpKind::kIdentity, ops::Identity);
  AddUnary(cases, OpKind::kNeg, ops::Neg);
  AddUnary(cases, OpKind::kSquare, ops::Square);
  AddUnary(cases, OpKind::kSqrt, ops::Sqrt, 0.5, 2);
  AddUnary(cases, OpKind::kRsqrt, ops::Rsqrt, 0.5, 2);
  AddUnary(cases, OpKind::kReciprocal, ops::Reciprocal, 0.5, 2);
  AddUnary(cases, OpKind::kAbs, ops::Abs);
  AddUnary(cases, OpKind::kExp, ops::Exp);
  AddUnary(cases, OpKind::kLog, ops::Log, 0.5, 2);
  AddUnary(cases, OpKind::kCos, ops::Cos, -3, 3);
  AddUnary(cases, OpKind::kSin, ops::Sin, -3, 3);
  AddUnary(cases, OpKind::kRelu, ops::Relu);
  AddUnary(cases, OpKind::kRelu6, ops::Relu6, -3, 9);
  AddUnary(cases, OpKind::kSigmoid, ops::Sigmoid, -3, 3);
  AddUnary(cases, OpKind::kTanh, ops::Tanh, -2, 2);
  AddUnary(cases, OpKind::kSoftplus, ops::Softplus, -3, 3);
  AddSecond(cases, OpKind::kReluGrad);
  AddSecond(cases, OpKind::kRelu6Grad, -3, 9);
  AddSecond(cases, OpKind::kSigmoidGrad);
  AddSecond(cases, OpKind::kTanhGrad);
  AddSecond(cases, OpKind::kSoftplusGrad);
  cases.push_back({OpKind::kCast, "double", {{4}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Cast(s, x[0], DType::kFloat64)};
                   }});
  cases.push_back({OpKind::kSelect, "each", {{2, 3}, {2, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Select(s, HalfChosen(s), x[0], x[1])};
                   }});
  cases.push_back({OpKind::kSelect, "scalar", {{2, 3}, {2, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::Select(s, ops::Scalar(s, false), x[0], x[1])};
                   }});
  cases.push_back({OpKind::kAddN, "three", {{2, 3}, {2, 3}, {2, 3}}, [](const Scope& s, const Outputs& x) {
                     return Outputs{ops::AddN(s, x)};
                   }});
  cases.push_back(
      {OpKind::kAddN, "one", {{3}}, [](const Scope& s, const Outputs& x) { return Outputs{ops::AddN(s, x)}; }});
  return cases;
}

}  // namespace muster::testing
