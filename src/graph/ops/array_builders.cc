// muster/ops/array.h.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/ops/shape_checks.h"
#include "muster/error.h"
#include "muster/ops/array.h"

namespace muster::ops {
namespace {

// An error that is found before there is a node: named by the kind and the scope.
Error AtScope(const Scope& scope, OpKind kind, const std::string& message) {
  return InvalidArgument(fmt::format("{} {}{}: {}", OpName(kind), scope.name_prefix(), OpName(kind), message));
}

int Rank(const Scope& scope, Output x) { return scope.shape(x).rank(); }

}  // namespace

Output Reshape(const Scope& scope, Output x, const std::vector<int64_t>& shape) {
  const Shape from = scope.shape(x);
  const auto fail = [&](const char* why) {
    return AtScope(scope, OpKind::kReshape,
                   fmt::format("cannot reshape {} to [{}]: {}", from.ToString(), fmt::join(shape, ","), why));
  };
  std::vector<int64_t> dims = shape;
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& dim : dims) {
    if (dim < -1) throw fail("a dimension is negative");
    if (dim == -1 && unknown != nullptr) throw fail("only one dimension may be -1");
    if (dim == -1) unknown = &dim;
    else known *= dim;
  }
  if (unknown != nullptr) {
    if (known == 0 || from.num_elements() % known != 0) throw fail("the elements do not divide evenly");
    *unknown = from.num_elements() / known;
  }
  return scope.AddOp(OpKind::kReshape, {x}, ShapeAttrs{Shape(dims)});
}

Output Transpose(const Scope& scope, Output x, std::vector<int> perm) {
  for (int& axis : perm) axis = NormalAxis(axis, Rank(scope, x));
  return scope.AddOp(OpKind::kTranspose, {x}, TransposeAttrs{std::move(perm)});
}

Output ExpandDims(const Scope& scope, Output x, int axis) {
  return scope.AddOp(OpKind::kExpandDims, {x}, AxisAttrs{NormalAxis(axis, Rank(scope, x) + 1)});
}

Output Squeeze(const Scope& scope, Output x, std::vector<int> axes) {
  const Shape shape = scope.shape(x);
  if (axes.empty()) {
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i] == 1) axes.push_back(i);
  }
  axes = NormalAxes(std::move(axes), shape.rank());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return scope.AddOp(OpKind::kSqueeze, {x}, SqueezeAttrs{std::move(axes)});
}

Output Concat(const Scope& scope, const std::vector<Output>& inputs, int axis) {
  if (!inputs.empty()) axis = NormalAxis(axis, Rank(scope, inputs[0]));
  return scope.AddOp(OpKind::kConcat, inputs, AxisAttrs{axis});
}

std::vector<Output> Split(const Scope& scope, Output x, int axis, int num) {
  const Shape shape = scope.shape(x);
  axis = NormalAxis(axis, shape.rank());
  const bool has_axis = axis >= 0 && axis < shape.rank();
  if (num < 1 || (has_axis && shape[axis] % num != 0))
    throw AtScope(scope, OpKind::kSplit,
                  fmt::format("axis {} of {} does not split into {} equal pieces", axis, shape.ToString(), num));
  return SplitV(scope, x, axis, std::vector<int64_t>(static_cast<size_t>(num), has_axis ? shape[axis] / num : 0));
}

std::vector<Output> SplitV(const Scope& scope, Output x, int axis, std::vector<int64_t> sizes) {
  const int num = static_cast<int>(sizes.size());
  const NodeId node =
      scope.AddNode(OpKind::kSplit, {x}, SplitAttrs{NormalAxis(axis, Rank(scope, x)), std::move(sizes)});
  std::vector<Output> pieces;
  for (int i = 0; i < num; ++i) pieces.push_back({node, i});
  return pieces;
}

Output Bucket(const Scope& scope, const std::vector<Output>& tensors) {
  return scope.AddOp(OpKind::kBucket, tensors, NoAttrs{});
}

std::vector<Output> Unbucket(const Scope& scope, Output bucket, std::vector<Shape> shapes) {
  const int num = static_cast<int>(shapes.size());
  const NodeId node = scope.AddNode(OpKind::kUnbucket, {bucket}, BucketAttrs{std::move(shapes)});
  std::vector<Output> tensors;
  for (int i = 0; i < num; ++i) tensors.push_back({node, i});
  return tensors;
}

Output Slice(const Scope& scope, Output x, std::vector<int64_t> begin, std::vector<int64_t> size) {
  const Shape shape = scope.shape(x);
  for (size_t i = 0; i < size.size() && i < begin.size() && static_cast<int>(i) < shape.rank(); ++i)
    if (size[i] == -1) size[i] = shape[static_cast<int>(i)] - begin[i];
  return scope.AddOp(OpKind::kSlice, {x}, SliceAttrs{std::move(begin), std::move(size)});
}

Output Pad(const Scope& scope, Output x, std::vector<std::pair<int64_t, int64_t>> paddings, PadMode mode,
           double constant) {
  return scope.AddOp(OpKind::kPad, {x}, PadAttrs{std::move(paddings), mode, constant});
}

Output Tile(const Scope& scope, Output x, std::vector<int64_t> multiples) {
  return scope.AddOp(OpKind::kTile, {x}, TileAttrs{std::move(multiples)});
}

Output Pack(const Scope& scope, const std::vector<Output>& inputs, int axis) {
  if (!inputs.empty()) axis = NormalAxis(axis, Rank(scope, inputs[0]) + 1);
  return scope.AddOp(OpKind::kPack, inputs, AxisAttrs{axis});
}

Output BroadcastTo(const Scope& scope, Output x, const Shape& shape) {
  return scope.AddOp(OpKind::kBroadcastTo, {x}, ShapeAttrs{shape});
}

Output OneHot(const Scope& scope, Output indices, int64_t depth, double on_value, double off_value, DType dtype) {
  return scope.AddOp(OpKind::kOneHot, {indices}, OneHotAttrs{depth, on_value, off_value, dtype});
}

}  // namespace muster::ops
