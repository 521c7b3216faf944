// Operations that only the compiler makes: fusions, copies, layout changes and channel ends.

#include <fmt/format.h>

#include "base/check.h"
#include "graph/op_def.h"
#include "muster/error.h"

namespace muster {
namespace {

// The fused kinds borrow the rule of the operation they grew from, applied to its share of the inputs.
std::vector<TensorDesc> Like(OpKind kind, const ShapeContext& c, size_t num_inputs) {
  return GetOpDef(kind).shape_rule({c.node, {c.inputs.begin(), c.inputs.begin() + static_cast<long>(num_inputs)}});
}

std::vector<TensorDesc> FusedConvShape(const ShapeContext& c) { return Like(OpKind::kConv2D, c, 2); }
std::vector<TensorDesc> FusedMatMulShape(const ShapeContext& c) { return Like(OpKind::kMatMul, c, 2); }
std::vector<TensorDesc> FusedBatchNormShape(const ShapeContext& c) { return Like(OpKind::kFusedBatchNorm, c, 5); }

// dfilter, dbias
std::vector<TensorDesc> FusedFilterGradShape(const ShapeContext& c) {
  auto outputs = Like(OpKind::kConv2DBackpropFilter, c, 2);
  outputs.push_back({c.dtype(0), Shape{outputs[0].shape[3]}, {}});
  return outputs;
}

// ReluGrad(MaxPoolGrad(x, y, dy), x)
std::vector<TensorDesc> MaxPoolReluGradShape(const ShapeContext& c) { return Like(OpKind::kMaxPoolGrad, c, 3); }

// dx, dscale, doffset and, with a side input, its gradient. An eighth input is a second dy: the sum of both counts.
std::vector<TensorDesc> FusedBatchNormGradShape(const ShapeContext& c) {
  auto outputs = Like(OpKind::kFusedBatchNormGrad, c, 5);
  outputs.resize(3);
  if (c.attr<BatchNormAttrs>().has_side_input) outputs.push_back(c.inputs[0]);
  return outputs;
}

// var, alpha, x, dy[, weight_decay]: var -= alpha * (x^T dy + weight_decay * var)
std::vector<TensorDesc> MatMulApplyShape(const ShapeContext& c) {
  const size_t count = c.attr<ApplyAttrs>().has_weight_decay ? 5 : 4;
  if (c.inputs.size() != count) throw InvalidArgument(fmt::format("takes {} inputs, got {}", count, c.inputs.size()));
  const Shape &var = c.shape(0), &x = c.shape(2), &dy = c.shape(3);
  if (x.rank() != 2 || dy.rank() != 2 || x[0] != dy[0] || var != Shape{x[1], dy[1]})
    throw InvalidArgument(
        fmt::format("x {} and dy {} do not give the gradient of {}", x.ToString(), dy.ToString(), var.ToString()));
  return {c.inputs[0]};
}

std::vector<TensorDesc> SameAsInput(const ShapeContext& c) { return {c.inputs[0]}; }
std::vector<TensorDesc> Nothing(const ShapeContext&) { return {}; }
std::vector<TensorDesc> ReceivedShape(const ShapeContext& c) { return {c.attr<ChannelAttrs>().desc}; }

constexpr OpDef kCompilerOps[] = {
    {OpKind::k_FusedConv2D, 3, 3, FusedConvShape},
    {OpKind::k_FusedConv2DBackpropFilter, 2, 2, FusedFilterGradShape},
    {OpKind::k_FusedMatMul, 3, 3, FusedMatMulShape},
    {.kind = OpKind::k_MatMulApplyGradientDescent,
     .min_inputs = 4,
     .max_inputs = 5,
     .shape_rule = MatMulApplyShape,
     .num_refs = 1,
     .is_stateful = true},
    {OpKind::k_FusedBatchNormEx, 5, 6, FusedBatchNormShape},
    {OpKind::k_FusedBatchNormGradEx, 7, 8, FusedBatchNormGradShape},
    {OpKind::k_MaxPoolReluGrad, 3, 3, MaxPoolReluGradShape},
    {OpKind::k_Snapshot, 1, 1, SameAsInput},
    {OpKind::k_Reorder, 1, 1, SameAsInput},
    {.kind = OpKind::k_Send, .min_inputs = 1, .max_inputs = 1, .shape_rule = Nothing, .is_stateful = true},
    {.kind = OpKind::k_Recv, .min_inputs = 0, .max_inputs = 0, .shape_rule = ReceivedShape, .is_stateful = true},
};

}  // namespace

std::span<const OpDef> CompilerOps() { return kCompilerOps; }

}  // namespace muster
