#include "graph/ops/shape_checks.h"

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {

void RequireFloating(const ShapeContext& context, int i) {
  if (!IsFloating(context.dtype(i)))
    throw InvalidArgument(fmt::format("input {} must be floating point, not {}", i, DTypeName(context.dtype(i))));
}

void RequireSameDType(const ShapeContext& context, int first) {
  for (int i = first; i < context.num_inputs(); ++i)
    if (context.dtype(i) != context.dtype(0))
      throw InvalidArgument(fmt::format("input {} is {}, but input 0 is {}", i, DTypeName(context.dtype(i)),
                                        DTypeName(context.dtype(0))));
}

void RequireRank(const ShapeContext& context, int i, int rank, const char* what) {
  if (context.shape(i).rank() != rank)
    throw InvalidArgument(fmt::format("{} must have {} dimension{}, not shape {}", what, rank, rank == 1 ? "" : "s",
                                      context.shape(i).ToString()));
}

void RequireShape(const ShapeContext& context, int i, const Shape& shape, const char* what, const char* why) {
  if (context.shape(i) != shape)
    throw InvalidArgument(fmt::format("{} is {}, but must be {} {}", what, context.shape(i).ToString(), shape.ToString(), why));
}

}  // namespace muster
