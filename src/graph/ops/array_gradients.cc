#include "graph/ops/array_gradients.h"

#include "graph/ops/gradient_rules.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster {
namespace {

// dy cut into pieces along an axis, each reshaped to its input's shape.
std::vector<Output> Pieces(const GradientContext& c, int axis, std::vector<int64_t> sizes) {
  if (sizes.size() == 1) return {ReshapeTo(c.scope, c.dy[0], c.shape(c.input(0)))};
  std::vector<Output> pieces = ops::SplitV(c.scope, c.dy[0], axis, std::move(sizes));
  for (size_t i = 0; i < pieces.size(); ++i)
    pieces[i] = ReshapeTo(c.scope, pieces[i], c.shape(c.input(static_cast<int>(i))));
  return pieces;
}

}  // namespace

std::vector<Output> ReshapeGradient(const GradientContext& c) {
  return {ReshapeTo(c.scope, c.dy[0], c.shape(c.input(0)))};
}

std::vector<Output> TransposeGradient(const GradientContext& c) {
  const std::vector<int>& perm = c.attr<TransposeAttrs>().perm;
  std::vector<int> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int>(i);
  return {ops::Transpose(c.scope, c.dy[0], inverse)};
}

std::vector<Output> ConcatGradient(const GradientContext& c) {
  const int axis = c.attr<AxisAttrs>().axis;
  std::vector<int64_t> sizes;
  for (const Output& input : c.node.inputs) sizes.push_back(c.shape(input)[axis]);
  return Pieces(c, axis, std::move(sizes));
}

std::vector<Output> PackGradient(const GradientContext& c) {
  return Pieces(c, c.attr<AxisAttrs>().axis, std::vector<int64_t>(c.node.inputs.size(), 1));
}

std::vector<Output> SplitGradient(const GradientContext& c) {
  std::vector<Output> pieces(c.dy.begin(), c.dy.end());
  for (size_t i = 0; i < pieces.size(); ++i)
    if (!pieces[i].is_valid()) pieces[i] = ZerosLike(c.scope, c.output(static_cast<int>(i)));
  if (pieces.size() == 1) return pieces;
  return {ops::Concat(c.scope, pieces, c.attr<SplitAttrs>().axis)};
}

std::vector<Output> SliceGradient(const GradientContext& c) {
  const Shape from = c.shape(c.input(0));
  if (c.shape(c.dy[0]) == from) return {c.dy[0]};
  const auto& a = c.attr<SliceAttrs>();
  std::vector<std::pair<int64_t, int64_t>> paddings;
  for (size_t i = 0; i < a.begin.size(); ++i)
    paddings.emplace_back(a.begin[i], from[static_cast<int>(i)] - a.begin[i] - a.size[i]);
  return {ops::Pad(c.scope, c.dy[0], std::move(paddings))};
}

std::vector<Output> PadGradient(const GradientContext& c) {
  const auto& a = c.attr<PadAttrs>();
  if (a.mode != PadMode::kConstant) return {c.scope.AddOp(OpKind::kMirrorPadGrad, {c.dy[0]}, a)};
  const Shape to = c.shape(c.input(0));
  if (c.shape(c.dy[0]) == to) return {c.dy[0]};
  std::vector<int64_t> begin;
  for (const auto& [before, after] : a.paddings) begin.push_back(before);
  return {ops::Slice(c.scope, c.dy[0], std::move(begin), {to.dims().begin(), to.dims().end()})};
}

// MirrorPadGrad is the transpose of a linear map; so the map itself leads back.
std::vector<Output> MirrorPadGradGradient(const GradientContext& c) {
  return {c.scope.AddOp(OpKind::kPad, {c.dy[0]}, c.attr<PadAttrs>())};
}

// dy seen as [multiple, size] for every repeated axis, summed over the multiples. Neighbouring axes that are not
// repeated count as one, which keeps the rank low.
std::vector<Output> TileGradient(const GradientContext& c) {
  const std::vector<int64_t>& multiples = c.attr<TileAttrs>().multiples;
  const Shape to = c.shape(c.input(0));
  std::vector<int64_t> dims;
  std::vector<int> axes;
  for (size_t i = 0; i < multiples.size(); ++i) {
    const int64_t size = to[static_cast<int>(i)];
    if (multiples[i] == 1 && !dims.empty()) {
      dims.back() *= size;
      continue;
    }
    if (multiples[i] != 1) {
      axes.push_back(static_cast<int>(dims.size()));
      dims.push_back(multiples[i]);
    }
    dims.push_back(size);
  }
  if (axes.empty()) return {c.dy[0]};
  if (dims.size() > Shape::kMaxRank) throw Unimplemented("the gradient of Tile takes at most 4 repeated axes");
  const Output sum = ops::Sum(c.scope, ReshapeTo(c.scope, c.dy[0], Shape(dims)), axes);
  return {ReshapeTo(c.scope, sum, to)};
}

std::vector<Output> BroadcastToGradient(const GradientContext& c) {
  return {SumTo(c.scope, c.dy[0], c.shape(c.input(0)))};
}

}  // namespace muster
