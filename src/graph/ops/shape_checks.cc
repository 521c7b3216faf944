#include "graph/ops/shape_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {
void RequireDType(bool fits, const ShapeContext& context, int i, const char* wanted) {
  if (!fits) throw InvalidArgument(fmt::format("input {} must be {}, not {}", i, wanted, DTypeName(context.dtype(i))));
}
}  // namespace

std::vector<TensorDesc> SameAsInput(const ShapeContext& context) { return {context.inputs[0]}; }

void RequireFloating(const ShapeContext& context, int i) {
  RequireDType(IsFloating(context.dtype(i)), context, i, "floating point");
}

void RequireNumbers(const ShapeContext& context, int i) {
  RequireDType(context.dtype(i) != DType::kBool, context, i, "a number");
}

void RequireBool(const ShapeContext& context, int i) {
  RequireDType(context.dtype(i) == DType::kBool, context, i, "bool");
}

void RequireIndices(const ShapeContext& context, int i) {
  RequireDType(context.dtype(i) == DType::kInt32 || context.dtype(i) == DType::kInt64, context, i, "int32 or int64");
}

void RequireSameDType(const ShapeContext& context, int first) {
  for (int i = first; i < context.num_inputs(); ++i)
    if (context.dtype(i) != context.dtype(0))
      throw InvalidArgument(fmt::format("input {} is {}, but input 0 is {}", i, DTypeName(context.dtype(i)),
                                        DTypeName(context.dtype(0))));
}

void RequireAlike(const ShapeContext& context) {
  RequireSameDType(context);
  for (int i = 1; i < context.num_inputs(); ++i)
    if (context.shape(i) != context.shape(0))
      throw InvalidArgument(fmt::format("input {} is {}, but input 0 is {}", i, context.shape(i).ToString(),
                                        context.shape(0).ToString()));
}

void RequireRank(const ShapeContext& context, int i, int rank, const char* what) {
  if (context.shape(i).rank() != rank)
    throw InvalidArgument(fmt::format("{} must have {} dimension{}, not shape {}", what, rank, rank == 1 ? "" : "s",
                                      context.shape(i).ToString()));
}

void RequireShape(const ShapeContext& context, int i, const Shape& shape, const char* what, const char* why) {
  if (context.shape(i) != shape)
    throw InvalidArgument(
        fmt::format("{} is {}, but must be {} {}", what, context.shape(i).ToString(), shape.ToString(), why));
}

void RequireAxis(int axis, int rank) {
  if (axis < 0 || axis >= rank) throw InvalidArgument(fmt::format("axis {} is out of range for rank {}", axis, rank));
}

void RequireOnePerAxis(const ShapeContext& context, size_t entries, const char* what) {
  if (entries != static_cast<size_t>(context.shape(0).rank()))
    throw InvalidArgument(
        fmt::format("{} has {} entries for shape {}, needs one per axis", what, entries, context.shape(0).ToString()));
}

int NormalAxis(int axis, int rank) { return axis < 0 && axis >= -rank ? axis + rank : axis; }

std::vector<int> NormalAxes(std::vector<int> axes, int rank) {
  for (int& axis : axes) axis = NormalAxis(axis, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::vector<TensorDesc> NumberShape(const ShapeContext& c) {
  RequireNumbers(c, 0);
  return SameAsInput(c);
}

std::vector<TensorDesc> FloatShape(const ShapeContext& c) {
  RequireFloating(c, 0);
  return SameAsInput(c);
}

}  // namespace muster
