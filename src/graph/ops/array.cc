// Operations that move elements: table, shape rules. Gradients are in array_gradients.cc, builders in
// array_builders.cc.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/op_def.h"
#include "graph/ops/array_gradients.h"
#include "graph/ops/gradient_rules.h"
#include "graph/ops/shape_checks.h"

namespace muster {
namespace {

std::vector<int64_t> Dims(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

std::vector<TensorDesc> ReshapeShape(const ShapeContext& c) {
  const Shape& to = c.attr<ShapeAttrs>().shape;
  if (to.num_elements() != c.shape(0).num_elements())
    throw InvalidArgument(fmt::format("cannot reshape {} with {} elements to {} with {}", c.shape(0).ToString(),
                                      c.shape(0).num_elements(), to.ToString(), to.num_elements()));
  return {Like(c, 0, to)};
}

std::vector<TensorDesc> BroadcastToShape(const ShapeContext& c) {
  const Shape& to = c.attr<ShapeAttrs>().shape;
  if (!(BroadcastShapes(c.shape(0), to) == to))
    throw InvalidArgument(fmt::format("{} does not broadcast to {}", c.shape(0).ToString(), to.ToString()));
  return {Like(c, 0, to)};
}

std::vector<TensorDesc> TransposeShape(const ShapeContext& c) {
  const std::vector<int>& perm = c.attr<TransposeAttrs>().perm;
  RequireOnePerAxis(c, perm.size(), "perm");
  std::vector<int> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int>(i))
      throw InvalidArgument(fmt::format("perm [{}] does not name each axis once", fmt::join(perm, ",")));
  std::vector<int64_t> dims;
  for (int axis : perm) dims.push_back(c.shape(0)[axis]);
  return {Like(c, 0, Shape(dims))};
}

std::vector<TensorDesc> ExpandDimsShape(const ShapeContext& c) {
  const int axis = c.attr<AxisAttrs>().axis;
  RequireAxis(axis, c.shape(0).rank() + 1);
  return {Like(c, 0, c.shape(0).Inserted(axis, 1))};
}

std::vector<TensorDesc> SqueezeShape(const ShapeContext& c) {
  Shape shape = c.shape(0);
  const std::vector<int>& axes = c.attr<SqueezeAttrs>().axes;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    RequireAxis(*axis, shape.rank());
    if (shape[*axis] != 1)
      throw InvalidArgument(
          fmt::format("axis {} of {} has size {}, not 1", *axis, c.shape(0).ToString(), shape[*axis]));
    shape = shape.Erased(*axis);
  }
  return {Like(c, 0, shape)};
}

std::vector<TensorDesc> ConcatShape(const ShapeContext& c) {
  const int axis = c.attr<AxisAttrs>().axis;
  RequireSameDType(c);
  RequireAxis(axis, c.shape(0).rank());
  int64_t size = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.shape(i).rank() != c.shape(0).rank() || !(c.shape(i).With(axis, 0) == c.shape(0).With(axis, 0)))
      throw InvalidArgument(fmt::format("shapes {} and {} differ in more than axis {}", c.shape(0).ToString(),
                                        c.shape(i).ToString(), axis));
    size += c.shape(i)[axis];
  }
  return {Like(c, 0, c.shape(0).With(axis, size))};
}

std::vector<TensorDesc> SplitShape(const ShapeContext& c) {
  const auto& a = c.attr<SplitAttrs>();
  RequireAxis(a.axis, c.shape(0).rank());
  if (std::accumulate(a.sizes.begin(), a.sizes.end(), int64_t{0}) != c.shape(0)[a.axis])
    throw InvalidArgument(fmt::format("axis {} of {} has size {}, the pieces [{}] do not add up to it", a.axis,
                                      c.shape(0).ToString(), c.shape(0)[a.axis], fmt::join(a.sizes, ",")));
  std::vector<TensorDesc> pieces;
  for (int64_t size : a.sizes) pieces.push_back(Like(c, 0, c.shape(0).With(a.axis, size)));
  return pieces;
}

std::vector<TensorDesc> SliceShape(const ShapeContext& c) {
  const auto& a = c.attr<SliceAttrs>();
  RequireOnePerAxis(c, a.begin.size(), "begin");
  RequireOnePerAxis(c, a.size.size(), "size");
  for (size_t i = 0; i < a.begin.size(); ++i) {
    const int64_t dim = c.shape(0)[static_cast<int>(i)];
    if (a.begin[i] < 0 || a.begin[i] > dim || a.size[i] < 0 || a.size[i] > dim - a.begin[i])
      throw InvalidArgument(
          fmt::format("begin {} and size {} leave axis {} of {}", a.begin[i], a.size[i], i, c.shape(0).ToString()));
  }
  return {Like(c, 0, Shape(a.size))};
}

// How far a mode can look into the tensor from its edge; constants need not look at all.
void RequirePadding(const PadAttrs& a, int64_t size, int64_t padding, size_t axis) {
  const int64_t most = a.mode == PadMode::kReflect ? size - 1 : size;
  if (padding < 0) throw InvalidArgument(fmt::format("padding {} of axis {} is negative", padding, axis));
  if (a.mode != PadMode::kConstant && padding > most)
    throw InvalidArgument(fmt::format("{} padding {} of axis {} is more than {}, all that size {} can give",
                                      a.mode == PadMode::kReflect ? "reflecting" : "symmetric", padding, axis, most,
                                      size));
}

std::vector<TensorDesc> PadShape(const ShapeContext& c) {
  const auto& a = c.attr<PadAttrs>();
  RequireOnePerAxis(c, a.paddings.size(), "paddings");
  std::vector<int64_t> dims = Dims(c.shape(0));
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = dims[i];
    for (int64_t padding : {a.paddings[i].first, a.paddings[i].second}) {
      RequirePadding(a, size, padding, i);
      dims[i] += padding;
    }
  }
  return {Like(c, 0, Shape(dims))};
}

std::vector<TensorDesc> MirrorPadGradShape(const ShapeContext& c) {
  const auto& a = c.attr<PadAttrs>();
  RequireOnePerAxis(c, a.paddings.size(), "paddings");
  if (a.mode == PadMode::kConstant) throw InvalidArgument("needs mode REFLECT or SYMMETRIC");
  std::vector<int64_t> dims = Dims(c.shape(0));
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] = std::max<int64_t>(dims[i] - a.paddings[i].first - a.paddings[i].second, 0);
    RequirePadding(a, dims[i], a.paddings[i].first, i);
    RequirePadding(a, dims[i], a.paddings[i].second, i);
  }
  return {Like(c, 0, Shape(dims))};
}

std::vector<TensorDesc> TileShape(const ShapeContext& c) {
  const std::vector<int64_t>& multiples = c.attr<TileAttrs>().multiples;
  RequireOnePerAxis(c, multiples.size(), "multiples");
  std::vector<int64_t> dims = Dims(c.shape(0));
  for (size_t i = 0; i < dims.size(); ++i) dims[i] *= multiples[i];
  return {Like(c, 0, Shape(dims))};
}

std::vector<TensorDesc> PackShape(const ShapeContext& c) {
  const int axis = c.attr<AxisAttrs>().axis;
  RequireAlike(c);
  RequireAxis(axis, c.shape(0).rank() + 1);
  return {Like(c, 0, c.shape(0).Inserted(axis, c.num_inputs()))};
}

std::vector<TensorDesc> OneHotShape(const ShapeContext& c) {
  const auto& a = c.attr<OneHotAttrs>();
  RequireIndices(c, 0);
  if (a.depth < 0) throw InvalidArgument(fmt::format("depth {} is negative", a.depth));
  return {{a.dtype, c.shape(0).Inserted(c.shape(0).rank(), a.depth), {}}};
}

int64_t Elements(const std::vector<Shape>& shapes) {
  int64_t count = 0;
  for (const Shape& shape : shapes) count += shape.num_elements();
  return count;
}

std::vector<TensorDesc> BucketShape(const ShapeContext& c) {
  RequireSameDType(c);
  int64_t size = 0;
  for (int i = 0; i < c.num_inputs(); ++i) size += c.shape(i).num_elements();
  return {Like(c, 0, Shape{size})};
}

std::vector<TensorDesc> UnbucketShape(const ShapeContext& c) {
  const auto& shapes = c.attr<BucketAttrs>().shapes;
  if (!(c.shape(0) == Shape{Elements(shapes)}))
    throw InvalidArgument(
        fmt::format("the tensors have {} elements, the bucket is {}", Elements(shapes), c.shape(0).ToString()));
  std::vector<TensorDesc> parts;
  for (const Shape& shape : shapes) parts.push_back(Like(c, 0, shape));
  return parts;
}

constexpr OpDef Row(OpKind kind, ShapeRule shape_rule, GradientRule gradient) {
  return {.kind = kind, .min_inputs = 1, .max_inputs = 1, .shape_rule = shape_rule, .gradient = gradient};
}
constexpr OpDef Alias(OpKind kind, ShapeRule shape_rule) {
  return {.kind = kind,
          .min_inputs = 1,
          .max_inputs = 1,
          .shape_rule = shape_rule,
          .gradient = ReshapeGradient,
          .is_alias = true};
}
constexpr OpDef ManyInputs(OpKind kind, ShapeRule shape_rule, GradientRule gradient) {
  return {.kind = kind, .min_inputs = 1, .max_inputs = -1, .shape_rule = shape_rule, .gradient = gradient};
}

constexpr OpDef kArrayOps[] = {
    Alias(OpKind::kReshape, ReshapeShape),
    Alias(OpKind::kExpandDims, ExpandDimsShape),
    Alias(OpKind::kSqueeze, SqueezeShape),
    Row(OpKind::kTranspose, TransposeShape, TransposeGradient),
    ManyInputs(OpKind::kConcat, ConcatShape, ConcatGradient),
    Row(OpKind::kSplit, SplitShape, SplitGradient),
    Row(OpKind::kSlice, SliceShape, SliceGradient),
    Row(OpKind::kPad, PadShape, PadGradient),
    Row(OpKind::kMirrorPadGrad, MirrorPadGradShape, MirrorPadGradGradient),
    Row(OpKind::kTile, TileShape, TileGradient),
    ManyInputs(OpKind::kPack, PackShape, PackGradient),
    Row(OpKind::kBroadcastTo, BroadcastToShape, BroadcastToGradient),
    Row(OpKind::kOneHot, OneHotShape, NoGradient),
    ManyInputs(OpKind::kBucket, BucketShape, nullptr),
    Row(OpKind::kUnbucket, UnbucketShape, nullptr),
};

}  // namespace

std::span<const OpDef> ArrayOps() { return kArrayOps; }

}  // namespace muster
