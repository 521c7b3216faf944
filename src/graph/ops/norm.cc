// FusedBatchNorm and LRN with their gradients.
//   FusedBatchNorm(x, scale, offset, mean, variance) -> y, batch_mean, batch_variance, reserve_mean, reserve_inv_std
//   FusedBatchNormGrad(dy, x, scale, reserve_mean, reserve_inv_std) -> dx, dscale, doffset
//   LRNGrad(dy, x, y) -> dx
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "graph/op_def.h"
#include "graph/ops/shape_checks.h"
#include "graph/ops/window.h"
#include "muster/error.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"
#include "muster/ops/state.h"

namespace muster {
namespace {

// Scale, offset and statistics have one dtype: that of x, or float32 where x has 16 bits.
void CheckStatisticsType(const ShapeContext& c, int x, int first) {
  const DType type = c.dtype(first);
  if (type != c.dtype(x) && !(type == DType::kFloat32 && SizeOf(c.dtype(x)) == 2))
    throw InvalidArgument(
        fmt::format("scale is {}, which does not go with an input of {}", DTypeName(type), DTypeName(c.dtype(x))));
  for (int i = first; i < c.num_inputs(); ++i)
    if (c.dtype(i) != type)
      throw InvalidArgument(fmt::format("input {} is {}, but scale is {}", i, DTypeName(c.dtype(i)), DTypeName(type)));
}

void CheckPerChannel(const ShapeContext& c, int x, int i, const char* what) {
  const DataFormat format = c.attr<BatchNormAttrs>().data_format;
  const int64_t channels = ImageDimsOf(c.shape(x), format).channels;
  if (c.shape(i) != Shape{channels})
    throw InvalidArgument(fmt::format("{} is {}, but the input {} ({}) has {} channels", what, c.shape(i).ToString(),
                                      c.shape(x).ToString(), DataFormatName(format), channels));
}

std::vector<TensorDesc> BatchNormShape(const ShapeContext& c) {
  const auto& attrs = c.attr<BatchNormAttrs>();
  RequireFloating(c, 0);
  CheckStatisticsType(c, 0, 1);
  CheckPerChannel(c, 0, 1, "scale");
  CheckPerChannel(c, 0, 2, "offset");
  // Training does not read the running statistics; TensorFlow's programs then give empty tensors.
  for (int i : {3, 4})
    if (!(attrs.is_training && c.shape(i) == Shape{0})) CheckPerChannel(c, 0, i, i == 3 ? "mean" : "variance");
  const TensorDesc statistics = Like(c, 1, c.shape(1));
  return {Like(c, 0, c.shape(0)), statistics, statistics, statistics, statistics};
}

Output Times(const GradientContext& c, Output x, double factor) {
  return ops::Mul(c.scope, x, ops::ScalarLike(c.scope, factor, c.scope.dtype(x)));
}

// One value per channel, as it broadcasts over x.
Output OverChannels(const GradientContext& c, Output x) {
  const DType dtype = c.scope.dtype(c.input(0));
  if (c.scope.dtype(x) != dtype) x = ops::Cast(c.scope, x, dtype);
  if (c.attr<BatchNormAttrs>().data_format == DataFormat::kNHWC) return x;
  return ops::Reshape(c.scope, x, {c.shape(x)[0], 1, 1});
}

// Through batch_mean = sum(x)/n and batch_variance = sum((x - mean)^2)/(n - 1): dx = x*slope + bias, by channel.
Output StatisticsGradient(const GradientContext& c) {
  const double n =
      static_cast<double>(c.shape(c.input(0)).num_elements()) / static_cast<double>(c.shape(c.input(1))[0]);
  Output bias, slope;
  if (c.dy[1].is_valid()) bias = Times(c, c.dy[1], 1 / n);
  if (c.dy[2].is_valid()) {
    slope = Times(c, c.dy[2], 2 / std::max(n - 1, 1.0));
    const Output centre = ops::Mul(c.scope, slope, c.output(1));
    bias = bias.is_valid() ? ops::Sub(c.scope, bias, centre) : Times(c, centre, -1);
  }
  const Output flat = OverChannels(c, bias);
  if (!slope.is_valid()) return ops::BroadcastTo(c.scope, flat, c.shape(c.input(0)));
  return ops::Add(c.scope, ops::Mul(c.scope, c.input(0), OverChannels(c, slope)), flat);
}

// For inference: y = (x - mean)*s*scale + offset with s = 1/sqrt(variance + epsilon), and sum(dy) = doffset,
// sum(dy*xhat) = dscale.
std::pair<Output, Output> GivenStatisticsGradient(const GradientContext& c, Output dscale, Output doffset) {
  const Output factor = ops::Mul(c.scope, c.input(1), c.output(4));
  const Output dmean = Times(c, ops::Mul(c.scope, factor, doffset), -1);
  const Output dvariance = Times(c, ops::Mul(c.scope, ops::Mul(c.scope, factor, c.output(4)), dscale), -0.5);
  return {dmean, dvariance};
}

std::vector<Output> BatchNormGradient(const GradientContext& c) {
  if (c.dy[3].is_valid() || c.dy[4].is_valid())
    throw Unimplemented("FusedBatchNorm " + c.node.name +
                        ": no gradient flows through what it keeps for its own (outputs 3 and 4)");
  const bool is_training = c.attr<BatchNormAttrs>().is_training;
  std::vector<Output> dx(5), terms;
  if (c.dy[0].is_valid()) {
    const NodeId grad = c.scope.AddNode(OpKind::kFusedBatchNormGrad,
                                        {c.dy[0], c.input(0), c.input(1), c.output(3), c.output(4)}, c.node.attrs);
    terms.push_back({grad, 0});
    dx[1] = {grad, 1}, dx[2] = {grad, 2};
    if (!is_training) std::tie(dx[3], dx[4]) = GivenStatisticsGradient(c, dx[1], dx[2]);
  }
  if (is_training && (c.dy[1].is_valid() || c.dy[2].is_valid())) terms.push_back(StatisticsGradient(c));
  if (!terms.empty()) dx[0] = terms.size() == 1 ? terms[0] : ops::AddN(c.scope, terms);
  return dx;
}

std::vector<TensorDesc> BatchNormGradShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  if (c.dtype(0) != c.dtype(1)) throw InvalidArgument("dy and x differ in dtype");
  RequireShape(c, 0, c.shape(1), "dy", "as x is");
  CheckStatisticsType(c, 1, 2);
  CheckPerChannel(c, 1, 2, "scale");
  CheckPerChannel(c, 1, 3, "reserve_mean");
  CheckPerChannel(c, 1, 4, "reserve_inv_std");
  return {Like(c, 1, c.shape(1)), Like(c, 2, c.shape(2)), Like(c, 2, c.shape(2))};
}

void CheckLRN(const ShapeContext& c) {
  RequireFloating(c, 0);
  RequireSameDType(c);
  RequireRank(c, 0, 4, "the input");
  if (c.attr<LRNAttrs>().depth_radius < 0)
    throw InvalidArgument(fmt::format("depth_radius cannot be negative: {}", c.attr<LRNAttrs>().depth_radius));
}

std::vector<TensorDesc> LRNShape(const ShapeContext& c) {
  CheckLRN(c);
  return {Like(c, 0, c.shape(0))};
}

std::vector<Output> LRNGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kLRNGrad, {c.dy[0], c.input(0), c.output(0)}, c.node.attrs)};
}

std::vector<TensorDesc> LRNGradShape(const ShapeContext& c) {
  CheckLRN(c);
  RequireShape(c, 1, c.shape(0), "x", "as dy is");
  RequireShape(c, 2, c.shape(0), "y", "as dy is");
  return {Like(c, 0, c.shape(0))};
}

constexpr OpDef kRows[] = {
    {OpKind::kFusedBatchNorm, 5, 5, BatchNormShape, BatchNormGradient},
    {OpKind::kFusedBatchNormGrad, 5, 5, BatchNormGradShape},
    {OpKind::kLRN, 1, 1, LRNShape, LRNGradient},
    {OpKind::kLRNGrad, 3, 3, LRNGradShape},
};

}  // namespace

std::span<const OpDef> NormOps() { return kRows; }

namespace ops {

BatchNormOutputs FusedBatchNorm(const Scope& scope, Output x, Output scale, Output offset, Output mean, Output variance,
                                BatchNormAttrs attrs) {
  const NodeId node = scope.AddNode(OpKind::kFusedBatchNorm, {x, scale, offset, mean, variance}, attrs);
  return {{node, 0}, {node, 1}, {node, 2}};
}

Output LRN(const Scope& scope, Output x, LRNAttrs attrs) { return scope.AddOp(OpKind::kLRN, {x}, attrs); }

}  // namespace ops
}  // namespace muster
