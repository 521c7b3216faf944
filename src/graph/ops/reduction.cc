// Reductions and searches: table, shape rules, gradients, and their part of muster/ops/math.h.

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/op_def.h"
#include "graph/ops/gradient_rules.h"
#include "graph/ops/shape_checks.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster {
namespace {

std::vector<TensorDesc> ReduceShape(const ShapeContext& c) {
  const auto& a = c.attr<ReduceAttrs>();
  RequireNumbers(c, 0);
  Shape shape = c.shape(0);
  int last = shape.rank();
  for (auto axis = a.axes.rbegin(); axis != a.axes.rend(); ++axis) {
    RequireAxis(*axis, c.shape(0).rank());
    if (*axis >= last) throw InvalidArgument(fmt::format("axes [{}] name an axis twice", fmt::join(a.axes, ",")));
    last = *axis;
    shape = a.keep_dims ? shape.With(*axis, 1) : shape.Erased(*axis);
  }
  return {{c.dtype(0), shape, {}}};
}

std::vector<TensorDesc> ArgMaxShape(const ShapeContext& c) {
  const int axis = c.attr<AxisAttrs>().axis;
  RequireNumbers(c, 0);
  RequireAxis(axis, c.shape(0).rank());
  if (c.shape(0)[axis] == 0) throw InvalidArgument(fmt::format("axis {} of {} is empty", axis, c.shape(0).ToString()));
  return {{DType::kInt64, c.shape(0).Erased(axis), {}}};
}

std::vector<TensorDesc> TopKShape(const ShapeContext& c) {
  const int k = c.attr<TopKAttrs>().k;
  const Shape& x = c.shape(0);
  RequireNumbers(c, 0);
  if (x.rank() < 1) throw InvalidArgument("input 0 must have rank 1 or more, but has shape []");
  if (k < 0 || k > x[x.rank() - 1])
    throw InvalidArgument(
        fmt::format("k is {}, but the last axis of {} has {} elements", k, x.ToString(), x[x.rank() - 1]));
  const Shape shape = x.With(x.rank() - 1, k);
  return {{c.dtype(0), shape, {}}, {DType::kInt32, shape, {}}};
}

std::vector<TensorDesc> InTopKShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  RequireRank(c, 0, 2, "predictions");
  RequireIndices(c, 1);
  RequireRank(c, 1, 1, "targets");
  if (c.shape(0)[0] != c.shape(1)[0])
    throw InvalidArgument(
        fmt::format("predictions {} and targets {} differ in the batch", c.shape(0).ToString(), c.shape(1).ToString()));
  return {{DType::kBool, c.shape(1), {}}};
}

std::vector<TensorDesc> L2LossShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  return {{c.dtype(0), Shape{}, {}}};
}

Shape Kept(const GradientContext& c) { return KeptShape(c.shape(c.input(0)), c.attr<ReduceAttrs>().axes); }

std::vector<Output> SumGradient(const GradientContext& c) {
  return {SpreadTo(c.scope, c.dy[0], Kept(c), c.shape(c.input(0)))};
}

// Divided before it is spread, where there is less to divide.
std::vector<Output> MeanGradient(const GradientContext& c) {
  double count = 1;
  for (int axis : c.attr<ReduceAttrs>().axes) count *= static_cast<double>(c.shape(c.input(0))[axis]);
  Output dy = c.dy[0];
  if (count != 1) dy = ops::Div(c.scope, dy, ops::ScalarLike(c.scope, count, c.scope.dtype(dy)));
  return {SpreadTo(c.scope, dy, Kept(c), c.shape(c.input(0)))};
}

// Max and Min: shared evenly among all elements that equal the extreme.
std::vector<Output> ExtremeGradient(const GradientContext& c) {
  const Scope& s = c.scope;
  const Shape kept = Kept(c);
  const Output y = ReshapeTo(s, c.output(0), kept);
  const Output hits = ops::Cast(s, ops::Equal(s, c.input(0), y), s.dtype(y));
  const Output count = ops::Sum(s, hits, c.attr<ReduceAttrs>().axes, /*keep_dims=*/true);
  const Output share = ops::Div(s, ReshapeTo(s, c.dy[0], kept), count);
  return {ops::Mul(s, hits, share)};
}

// Each value's gradient goes to the element it came from: one-hot rows times the gradients, summed over k.
std::vector<Output> TopKGradient(const GradientContext& c) {
  if (!c.dy[0].is_valid()) return {Output{}};
  const Shape x = c.shape(c.input(0));
  const int last = x.rank() - 1;
  const Output rows = ops::OneHot(c.scope, c.output(1), x[last], 1, 0, c.scope.dtype(c.dy[0]));
  return {ops::Sum(c.scope, ops::Mul(c.scope, rows, ops::ExpandDims(c.scope, c.dy[0], last + 1)), {last})};
}

std::vector<Output> L2LossGradient(const GradientContext& c) { return {ops::Mul(c.scope, c.input(0), c.dy[0])}; }

constexpr OpDef Row(OpKind kind, int num_inputs, ShapeRule shape_rule, GradientRule gradient) {
  return {
      .kind = kind, .min_inputs = num_inputs, .max_inputs = num_inputs, .shape_rule = shape_rule, .gradient = gradient};
}

constexpr OpDef kReductionOps[] = {
    Row(OpKind::kSum, 1, ReduceShape, SumGradient),     Row(OpKind::kMean, 1, ReduceShape, MeanGradient),
    Row(OpKind::kMax, 1, ReduceShape, ExtremeGradient), Row(OpKind::kMin, 1, ReduceShape, ExtremeGradient),
    Row(OpKind::kArgMax, 1, ArgMaxShape, NoGradient),   Row(OpKind::kTopK, 1, TopKShape, TopKGradient),
    Row(OpKind::kInTopK, 2, InTopKShape, NoGradient),   Row(OpKind::kL2Loss, 1, L2LossShape, L2LossGradient),
};

Output Reduce(const Scope& scope, OpKind kind, Output x, std::vector<int> axes, bool keep_dims) {
  const int rank = scope.shape(x).rank();
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return scope.AddOp(kind, {x}, ReduceAttrs{NormalAxes(std::move(axes), rank), keep_dims});
}

}  // namespace

std::span<const OpDef> ReductionOps() { return kReductionOps; }

namespace ops {

Output Sum(const Scope& scope, Output x, std::vector<int> axes, bool keep_dims) {
  return Reduce(scope, OpKind::kSum, x, std::move(axes), keep_dims);
}
Output Mean(const Scope& scope, Output x, std::vector<int> axes, bool keep_dims) {
  return Reduce(scope, OpKind::kMean, x, std::move(axes), keep_dims);
}
Output Max(const Scope& scope, Output x, std::vector<int> axes, bool keep_dims) {
  return Reduce(scope, OpKind::kMax, x, std::move(axes), keep_dims);
}
Output Min(const Scope& scope, Output x, std::vector<int> axes, bool keep_dims) {
  return Reduce(scope, OpKind::kMin, x, std::move(axes), keep_dims);
}
Output ArgMax(const Scope& scope, Output x, int axis) {
  return scope.AddOp(OpKind::kArgMax, {x}, AxisAttrs{NormalAxis(axis, scope.shape(x).rank())});
}
Output TopK(const Scope& scope, Output x, int k) { return scope.AddOp(OpKind::kTopK, {x}, TopKAttrs{k}); }
Output InTopK(const Scope& scope, Output predictions, Output targets, int k) {
  return scope.AddOp(OpKind::kInTopK, {predictions, targets}, TopKAttrs{k});
}
Output L2Loss(const Scope& scope, Output x) { return scope.AddOp(OpKind::kL2Loss, {x}); }

}  // namespace ops
}  // namespace muster
