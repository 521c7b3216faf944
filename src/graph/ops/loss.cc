// Softmax, LogSoftmax and the two softmax cross entropies. The cross entropies give the loss [batch] and, as
// TensorFlow's do, the gradient of that loss with respect to the logits [batch, classes] ("backprop").
#include <fmt/format.h>

#include "graph/op_def.h"
#include "graph/ops/shape_checks.h"
#include "muster/error.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"

namespace muster {
namespace {

std::vector<TensorDesc> SoftmaxShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  if (c.shape(0).rank() < 1) throw InvalidArgument("the logits must have at least 1 dimension");
  return {Like(c, 0, c.shape(0))};
}

// dx = (dy - sum(dy*y)) * y
std::vector<Output> SoftmaxGradient(const GradientContext& c) {
  const Output y = c.output(0), dy = c.dy[0];
  const Output sum = ops::Sum(c.scope, ops::Mul(c.scope, dy, y), {-1}, true);
  return {ops::Mul(c.scope, ops::Sub(c.scope, dy, sum), y)};
}

// dx = dy - sum(dy) * exp(y)
std::vector<Output> LogSoftmaxGradient(const GradientContext& c) {
  const Output dy = c.dy[0];
  const Output sum = ops::Sum(c.scope, dy, {-1}, true);
  return {ops::Sub(c.scope, dy, ops::Mul(c.scope, sum, ops::Exp(c.scope, c.output(0))))};
}

void CheckLogits(const ShapeContext& c) {
  RequireFloating(c, 0);
  RequireRank(c, 0, 2, "the logits");
  if (c.shape(0)[1] < 1) throw InvalidArgument("the logits have no classes");
}

std::vector<TensorDesc> LossAndBackprop(const ShapeContext& c) {
  return {Like(c, 0, {c.shape(0)[0]}), Like(c, 0, c.shape(0))};
}

std::vector<TensorDesc> SparseShape(const ShapeContext& c) {
  CheckLogits(c);
  if (c.dtype(1) != DType::kInt32 && c.dtype(1) != DType::kInt64)
    throw InvalidArgument(fmt::format("labels must be int32 or int64, not {}", DTypeName(c.dtype(1))));
  if (c.shape(1) != Shape{c.shape(0)[0]})
    throw InvalidArgument(fmt::format("labels {} do not fit logits {}: one label for each row is needed",
                                      c.shape(1).ToString(), c.shape(0).ToString()));
  return LossAndBackprop(c);
}

std::vector<TensorDesc> DenseShape(const ShapeContext& c) {
  CheckLogits(c);
  RequireSameDType(c);
  RequireShape(c, 1, c.shape(0), "labels", "as the logits are");
  return LossAndBackprop(c);
}

// Each row of "rows" times its element of the loss' gradient.
Output ScaleRows(const GradientContext& c, Output rows) {
  if (c.dy.size() > 1 && c.dy[1].is_valid())
    throw Unimplemented(
        fmt::format("{} {}: no gradient flows through its second output", OpName(c.node.kind), c.node.name));
  return ops::Mul(c.scope, ops::ExpandDims(c.scope, c.dy[0], 1), rows);
}

std::vector<Output> SparseGradient(const GradientContext& c) { return {ScaleRows(c, c.output(1)), {}}; }

std::vector<Output> DenseGradient(const GradientContext& c) {
  return {ScaleRows(c, c.output(1)), ScaleRows(c, ops::Neg(c.scope, ops::LogSoftmax(c.scope, c.input(0))))};
}

constexpr OpDef kRows[] = {
    {OpKind::kSoftmax, 1, 1, SoftmaxShape, SoftmaxGradient},
    {OpKind::kLogSoftmax, 1, 1, SoftmaxShape, LogSoftmaxGradient},
    {OpKind::kSparseSoftmaxCrossEntropyWithLogits, 2, 2, SparseShape, SparseGradient},
    {OpKind::kSoftmaxCrossEntropyWithLogits, 2, 2, DenseShape, DenseGradient},
};

}  // namespace

std::span<const OpDef> LossOps() { return kRows; }

namespace ops {

Output Softmax(const Scope& scope, Output logits) { return scope.AddOp(OpKind::kSoftmax, {logits}); }
Output LogSoftmax(const Scope& scope, Output logits) { return scope.AddOp(OpKind::kLogSoftmax, {logits}); }

Output SparseSoftmaxCrossEntropyWithLogits(const Scope& scope, Output logits, Output labels) {
  return scope.AddOp(OpKind::kSparseSoftmaxCrossEntropyWithLogits, {logits, labels});
}

Output SoftmaxCrossEntropyWithLogits(const Scope& scope, Output logits, Output labels) {
  return scope.AddOp(OpKind::kSoftmaxCrossEntropyWithLogits, {logits, labels});
}

}  // namespace ops
}  // namespace muster
