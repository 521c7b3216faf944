// MatMul, BiasAdd and its gradient.
#include <fmt/format.h>

#include "graph/op_def.h"
#include "graph/ops/shape_checks.h"
#include "graph/ops/window.h"
#include "muster/error.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"

namespace muster {
namespace {

std::vector<TensorDesc> MatMulShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  RequireSameDType(c);
  RequireRank(c, 0, 2, "a");
  RequireRank(c, 1, 2, "b");
  const auto& attrs = c.attr<MatMulAttrs>();
  const Shape &a = c.shape(0), &b = c.shape(1);
  const int64_t a_inner = a[attrs.transpose_a ? 0 : 1], b_inner = b[attrs.transpose_b ? 1 : 0];
  if (a_inner != b_inner)
    throw InvalidArgument(fmt::format("a {}{} and b {}{} do not multiply: {} columns against {} rows", a.ToString(),
                                      attrs.transpose_a ? " transposed" : "", b.ToString(),
                                      attrs.transpose_b ? " transposed" : "", a_inner, b_inner));
  return {Like(c, 0, {a[attrs.transpose_a ? 1 : 0], b[attrs.transpose_b ? 0 : 1]})};
}

std::vector<Output> MatMulGradient(const GradientContext& c) {
  const auto& attrs = c.attr<MatMulAttrs>();
  const Output a = c.input(0), b = c.input(1), dy = c.dy[0];
  const bool ta = attrs.transpose_a, tb = attrs.transpose_b;
  // Whichever factor was given transposed gets its gradient transposed: d(aᵀ) = b·dyᵀ instead of d(a) = dy·bᵀ.
  const Output da = ta ? ops::MatMul(c.scope, b, dy, tb, true) : ops::MatMul(c.scope, dy, b, false, !tb);
  const Output db = tb ? ops::MatMul(c.scope, dy, a, true, ta) : ops::MatMul(c.scope, a, dy, !ta, false);
  return {da, db};
}

// The axis that holds the channels; throws if x has no such axis.
int ChannelAxis(const ShapeContext& c, DataFormat format) {
  if (c.shape(0).rank() < 2)
    throw InvalidArgument(
        fmt::format("the input must have at least 2 dimensions, not shape {}", c.shape(0).ToString()));
  if (format == DataFormat::kNCHW && c.shape(0).rank() != 2 && c.shape(0).rank() != 4)
    throw InvalidArgument(fmt::format("NCHW is for 4 dimensions (or 2), not for shape {}", c.shape(0).ToString()));
  return format == DataFormat::kNHWC ? c.shape(0).rank() - 1 : 1;
}

std::vector<TensorDesc> BiasAddShape(const ShapeContext& c) {
  RequireSameDType(c);
  const DataFormat format = c.attr<BiasAddAttrs>().data_format;
  const int64_t channels = c.shape(0)[ChannelAxis(c, format)];
  if (c.shape(1) != Shape{channels})
    throw InvalidArgument(fmt::format("bias {} does not fit input {} ({}), which has {} channels",
                                      c.shape(1).ToString(), c.shape(0).ToString(), DataFormatName(format), channels));
  return {c.inputs[0]};
}

std::vector<Output> BiasAddGradient(const GradientContext& c) {
  return {c.dy[0], c.scope.AddOp(OpKind::kBiasAddGrad, {c.dy[0]}, c.node.attrs)};
}

std::vector<TensorDesc> BiasAddGradShape(const ShapeContext& c) {
  return {Like(c, 0, {c.shape(0)[ChannelAxis(c, c.attr<BiasAddAttrs>().data_format)]})};
}

constexpr OpDef kRows[] = {
    {OpKind::kMatMul, 2, 2, MatMulShape, MatMulGradient},
    {OpKind::kBiasAdd, 2, 2, BiasAddShape, BiasAddGradient},
    {OpKind::kBiasAddGrad, 1, 1, BiasAddGradShape},
};

}  // namespace

std::span<const OpDef> MatMulOps() { return kRows; }

namespace ops {

Output MatMul(const Scope& scope, Output a, Output b, bool transpose_a, bool transpose_b) {
  return scope.AddOp(OpKind::kMatMul, {a, b}, MatMulAttrs{transpose_a, transpose_b});
}

Output BiasAdd(const Scope& scope, Output x, Output bias, DataFormat data_format) {
  return scope.AddOp(OpKind::kBiasAdd, {x, bias}, BiasAddAttrs{data_format});
}

}  // namespace ops
}  // namespace muster
