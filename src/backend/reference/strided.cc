#include "backend/reference/strided.h"

namespace muster::reference {

Strides RowMajorStrides(const Shape& shape) {
  Strides strides{};
  int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = step;
    step *= shape[axis];
  }
  return strides;
}

Strides BroadcastStrides(const Shape& from, const Shape& to) {
  const Strides own = RowMajorStrides(from);
  const int offset = to.rank() - from.rank();
  Strides strides{};
  for (int axis = 0; axis < from.rank(); ++axis)
    if (from[axis] != 1) strides[static_cast<size_t>(axis + offset)] = own[static_cast<size_t>(axis)];
  return strides;
}

}  // namespace muster::reference
