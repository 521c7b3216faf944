#include "graph/ops/shape_rules.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {
void RequireDType(bool fits, const ShapeContext& c, int input, const char* wanted) {
  if (!fits) throw InvalidArgument(fmt::format("input {} must be {}, not {}", input, wanted, DTypeName(c.dtype(input))));
}
}  // namespace

std::vector<TensorDesc> SameAsInput(const ShapeContext& c) { return {c.inputs[0]}; }

void RequireSameDTypes(const ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i)
    if (c.dtype(i) != c.dtype(0))
      throw InvalidArgument(fmt::format("inputs must have one dtype, got {} and {}", DTypeName(c.dtype(0)), DTypeName(c.dtype(i))));
}

void RequireSameShapes(const ShapeContext& c) {
  RequireSameDTypes(c);
  for (int i = 1; i < c.num_inputs(); ++i)
    if (!(c.shape(i) == c.shape(0)))
      throw InvalidArgument(fmt::format("inputs must have one shape, got {} and {}", c.shape(0).ToString(), c.shape(i).ToString()));
}

void RequireFloating(const ShapeContext& c, int input) {
  RequireDType(IsFloating(c.dtype(input)), c, input, "floating-point");
}

void RequireNumbers(const ShapeContext& c, int input) { RequireDType(c.dtype(input) != DType::kBool, c, input, "a number"); }

void RequireBool(const ShapeContext& c, int input) { RequireDType(c.dtype(input) == DType::kBool, c, input, "bool"); }

void RequireIndices(const ShapeContext& c, int input) {
  RequireDType(c.dtype(input) == DType::kInt32 || c.dtype(input) == DType::kInt64, c, input, "int32 or int64");
}

void RequireRank(const ShapeContext& c, int input, int rank) {
  if (c.shape(input).rank() != rank)
    throw InvalidArgument(fmt::format("input {} must have rank {}, but has shape {}", input, rank, c.shape(input).ToString()));
}

void RequireAxis(int axis, int rank) {
  if (axis < 0 || axis >= rank)
    throw InvalidArgument(fmt::format("axis {} is out of range for rank {}", axis, rank));
}

void RequireOnePerAxis(const ShapeContext& c, size_t entries, const char* what) {
  if (entries != static_cast<size_t>(c.shape(0).rank()))
    throw InvalidArgument(fmt::format("{} has {} entries for shape {}, needs one per axis", what, entries, c.shape(0).ToString()));
}

int NormalAxis(int axis, int rank) { return axis < 0 && axis >= -rank ? axis + rank : axis; }

std::vector<int> NormalAxes(std::vector<int> axes, int rank) {
  for (int& axis : axes) axis = NormalAxis(axis, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace muster
