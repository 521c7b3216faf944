#pragma once

#include <array>
#include <cstdint>

#include "muster/shape.h"

namespace muster::reference {

// Elements from one position to the next along each axis of a walk.
using Strides = std::array<int64_t, Shape::kMaxRank>;

Strides RowMajorStrides(const Shape& shape);

// The strides of a tensor that is broadcast to "to": 0 along axes that it lacks or that have size 1.
Strides BroadcastStrides(const Shape& from, const Shape& to);

// Visits all positions of a shape in row-major order; f gets the offset of each of N operands, in elements.
template <size_t N, typename F>
void ForEachPosition(const Shape& shape, const std::array<Strides, N>& strides, F f) {
  if (shape.num_elements() == 0) return;
  std::array<int64_t, Shape::kMaxRank> index{};
  std::array<int64_t, N> offset{};
  for (;;) {
    f(offset);
    int axis = shape.rank() - 1;
    for (; axis >= 0; --axis) {
      const size_t a = static_cast<size_t>(axis);
      for (size_t k = 0; k < N; ++k) offset[k] += strides[k][a];
      if (++index[a] < shape[axis]) break;
      for (size_t k = 0; k < N; ++k) offset[k] -= strides[k][a] * shape[axis];
      index[a] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace muster::reference
