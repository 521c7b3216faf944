#include "tests/backend/cpu_vs_reference/op_cases.h"

namespace muster::testing {
namespace {

// One element, tails of vectors, several axes, enough for two threads.
const Shape kShapes[] = {{}, {1}, {17}, {3, 5, 7}, {2, 3, 4, 33}, {64, 1000}};

// Pairs that broadcast in every manner that kernels tell apart.
const std::pair<Shape, Shape> kBroadcasts[] = {
    {{4, 5, 6}, {6}},      {{6}, {4, 5, 6}},      {{4, 5, 6}, {5, 1}},          {{4, 1, 6}, {1, 5, 1}},
    {{}, {3, 37}},         {{3, 37}, {}},         {{2, 3, 4, 5}, {2, 1, 1, 5}}, {{100, 64}, {64}},
    {{100, 64}, {100, 1}}, {{2, 7, 7, 32}, {32}},
};

struct Range {
  OpKind kind;
  double low, high;
};

constexpr Range kUnary[] = {
    {OpKind::kNeg, -3, 3},         {OpKind::kSquare, -3, 3},   {OpKind::kSqrt, 0.1, 4},      {OpKind::kRsqrt, 0.1, 4},
    {OpKind::kReciprocal, 0.2, 4}, {OpKind::kAbs, -3, 3},      {OpKind::kSign, -3, 3},       {OpKind::kExp, -5, 5},
    {OpKind::kLog, 0.1, 10},       {OpKind::kCos, -6, 6},      {OpKind::kSin, -6, 6},        {OpKind::kFloor, -5, 5},
    {OpKind::kCeil, -5, 5},        {OpKind::kIsFinite, -1, 1}, {OpKind::kRelu, -3, 3},       {OpKind::kRelu6, -3, 9},
    {OpKind::kSigmoid, -20, 20},   {OpKind::kTanh, -10, 10},   {OpKind::kSoftplus, -30, 30},
};

constexpr Range kBinary[] = {
    {OpKind::kAdd, -3, 3},     {OpKind::kSub, -3, 3},     {OpKind::kMul, -3, 3},  {OpKind::kDiv, 0.5, 4},
    {OpKind::kMaximum, -3, 3}, {OpKind::kMinimum, -3, 3}, {OpKind::kPow, 0.3, 3}, {OpKind::kSquaredDifference, -3, 3},
};

constexpr OpKind kComparisons[] = {OpKind::kEqual,     OpKind::kNotEqual, OpKind::kLess,
                                   OpKind::kLessEqual, OpKind::kGreater,  OpKind::kGreaterEqual};

void AddGradientCases(OpCases* cases) {
  for (const Shape& shape : kShapes) {
    // The second input has values on both sides of the kinks and on them.
    Add(cases, OpKind::kReluGrad, NoAttrs{}, {Random(shape), RandomHalves(shape)});
    Add(cases, OpKind::kRelu6Grad, NoAttrs{}, {Random(shape), RandomHalves(shape, -2, 8)});
    Add(cases, OpKind::kSoftplusGrad, NoAttrs{}, {Random(shape), Random(shape, -20, 20)});
    Add(cases, OpKind::kSigmoidGrad, NoAttrs{}, {Random(shape, 0, 1), Random(shape)});
    Add(cases, OpKind::kTanhGrad, NoAttrs{}, {Random(shape, -1, 1), Random(shape)});
  }
}

void AddChoiceCases(OpCases* cases) {
  for (const Shape& shape : kShapes) {
    const Tensor condition = RandomIndices(DType::kBool, shape, 2), other = RandomIndices(DType::kBool, shape, 2);
    Add(cases, OpKind::kSelect, NoAttrs{}, {condition, Random(shape), Random(shape)});
    Add(cases, OpKind::kSelect, NoAttrs{}, {Tensor::Scalar(true), Random(shape), Random(shape)});
    Add(cases, OpKind::kLogicalAnd, NoAttrs{}, {condition, other});
    Add(cases, OpKind::kLogicalOr, NoAttrs{}, {condition, other});
    Add(cases, OpKind::kLogicalNot, NoAttrs{}, {condition});
  }
}

}  // namespace

void AddElementwiseCases(OpCases* cases) {
  for (const Range& op : kUnary)
    for (const Shape& shape : kShapes) Add(cases, op.kind, NoAttrs{}, {Random(shape, op.low, op.high)});
  for (const Range& op : kBinary) {
    for (const Shape& shape : kShapes)
      Add(cases, op.kind, NoAttrs{}, {Random(shape, op.low, op.high), Random(shape, op.low, op.high)});
    for (const auto& [a, b] : kBroadcasts)
      Add(cases, op.kind, NoAttrs{}, {Random(a, op.low, op.high), Random(b, op.low, op.high)});
  }
  for (OpKind kind : kComparisons)
    for (const auto& [a, b] : kBroadcasts) Add(cases, kind, NoAttrs{}, {RandomHalves(a), RandomHalves(b)});
  for (DType to : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt32, DType::kInt64,
                   DType::kBool})
    Add(cases, OpKind::kCast, CastAttrs{to}, {RandomHalves({5, 77}, -9, 9)});
  for (const Shape& shape : kShapes)
    for (int count : {1, 2, 3, 5}) {
      std::vector<Tensor> terms;
      for (int i = 0; i < count; ++i) terms.push_back(Random(shape));
      Add(cases, OpKind::kAddN, NoAttrs{}, terms);
    }
  AddGradientCases(cases);
  AddChoiceCases(cases);
}

}  // namespace muster::testing
