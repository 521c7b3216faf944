#include "graph/ops/gradient_rules.h"

#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster {
namespace {

// Whether "x" is "kept" without leading axes of size 1: then it broadcasts as "kept" does.
bool IsKeptSuffix(const Shape& x, const Shape& kept) {
  const int offset = kept.rank() - x.rank();
  for (int i = 0; i < kept.rank(); ++i)
    if (kept[i] != (i < offset ? 1 : x[i - offset])) return false;
  return true;
}

}  // namespace

std::vector<Output> NoGradient(const GradientContext& c) { return std::vector<Output>(c.node.inputs.size()); }

Output ReshapeTo(const Scope& scope, Output x, const Shape& shape) {
  if (scope.shape(x) == shape) return x;
  return scope.AddOp(OpKind::kReshape, {x}, ShapeAttrs{shape});
}

Output SumTo(const Scope& scope, Output dy, const Shape& shape) {
  const Shape from = scope.shape(dy);
  if (from == shape) return dy;
  const int offset = from.rank() - shape.rank();
  std::vector<int> axes;
  for (int i = 0; i < from.rank(); ++i)
    if (from[i] != 1 && (i < offset || shape[i - offset] == 1)) axes.push_back(i);
  if (!axes.empty()) dy = ops::Sum(scope, dy, axes);
  return ReshapeTo(scope, dy, shape);
}

Output SpreadTo(const Scope& scope, Output dy, const Shape& kept, const Shape& shape) {
  if (kept == shape) return ReshapeTo(scope, dy, shape);
  if (!IsKeptSuffix(scope.shape(dy), kept)) dy = ReshapeTo(scope, dy, kept);
  return ops::BroadcastTo(scope, dy, shape);
}

Shape KeptShape(const Shape& shape, const std::vector<int>& axes) {
  Shape kept = shape;
  for (int axis : axes) kept = kept.With(axis, 1);
  return kept;
}

Output ZerosLike(const Scope& scope, Output like) { return ops::Fill(scope, scope.dtype(like), scope.shape(like), 0); }

Output Scaled(const Scope& scope, Output dy, double factor) {
  return ops::Mul(scope, dy, ops::ScalarLike(scope, factor, scope.dtype(dy)));
}

}  // namespace muster
