// MaxPool and AvgPool with their gradients: MaxPoolGrad(x, y, dy), AvgPoolGrad(dy) with the attribute target_shape.
#include <fmt/format.h>

#include "graph/op_def.h"
#include "graph/ops/shape_checks.h"
#include "graph/ops/window.h"
#include "muster/error.h"
#include "muster/ops/nn.h"

namespace muster {
namespace {

Shape PooledShape(const Shape& x, const PoolAttrs& attrs) {
  return ImageShape(PoolGeometryOf(x, attrs).output(), attrs.data_format);
}

std::vector<TensorDesc> PoolShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  return {Like(c, 0, PooledShape(c.shape(0), c.attr<PoolAttrs>()))};
}

std::vector<Output> MaxPoolGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kMaxPoolGrad, {c.input(0), c.output(0), c.dy[0]}, c.node.attrs)};
}

std::vector<TensorDesc> MaxPoolGradShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  RequireSameDType(c);
  const Shape pooled = PooledShape(c.shape(0), c.attr<PoolAttrs>());
  RequireShape(c, 1, pooled, "y", "as the pooled input is");
  RequireShape(c, 2, pooled, "dy", "as the pooled input is");
  return {Like(c, 0, c.shape(0))};
}

std::vector<Output> AvgPoolGradient(const GradientContext& c) {
  PoolAttrs attrs = c.attr<PoolAttrs>();
  attrs.target_shape = c.shape(c.input(0));
  return {c.scope.AddOp(OpKind::kAvgPoolGrad, {c.dy[0]}, std::move(attrs))};
}

std::vector<TensorDesc> AvgPoolGradShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  const auto& attrs = c.attr<PoolAttrs>();
  RequireShape(c, 0, PooledShape(attrs.target_shape, attrs), "dy", "as the pooled input is");
  return {Like(c, 0, attrs.target_shape)};
}

// Averaging is linear: the gradient of its gradient is itself.
std::vector<Output> AvgPoolGradGradient(const GradientContext& c) {
  PoolAttrs attrs = c.attr<PoolAttrs>();
  attrs.target_shape = {};
  return {c.scope.AddOp(OpKind::kAvgPool, {c.dy[0]}, std::move(attrs))};
}

constexpr OpDef kRows[] = {
    {OpKind::kMaxPool, 1, 1, PoolShape, MaxPoolGradient},
    {OpKind::kMaxPoolGrad, 3, 3, MaxPoolGradShape},
    {OpKind::kAvgPool, 1, 1, PoolShape, AvgPoolGradient},
    {OpKind::kAvgPoolGrad, 1, 1, AvgPoolGradShape, AvgPoolGradGradient},
};

}  // namespace

std::span<const OpDef> PoolOps() { return kRows; }

namespace ops {

Output MaxPool(const Scope& scope, Output x, PoolAttrs attrs) {
  return scope.AddOp(OpKind::kMaxPool, {x}, std::move(attrs));
}
Output AvgPool(const Scope& scope, Output x, PoolAttrs attrs) {
  return scope.AddOp(OpKind::kAvgPool, {x}, std::move(attrs));
}

}  // namespace ops
}  // namespace muster
