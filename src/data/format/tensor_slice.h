#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/shape.h"

namespace muster::data {

// A rectangular part of a tensor: how a variable that is partitioned over parameter servers is kept in a checkpoint.
struct TensorSlice {
  struct Extent {
    int64_t start = 0;
    int64_t length = -1;  // -1: all of the dimension
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  std::vector<Extent> extents;  // one per dimension

  // Whether the slice lies inside a tensor of this shape; its own shape there.
  bool FitsInto(const Shape& whole) const;
  Shape ShapeIn(const Shape& whole) const;
  // "0,4:-", as TensorFlow writes slices: start,length per dimension, "-" for all of it.
  std::string ToString() const;
  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

// The key under which an index holds a slice of a variable. Sorts as the numbers do; begins with a zero byte, as no
// name does.
std::string SliceKey(std::string_view name, const TensorSlice& slice);
inline bool IsSliceKey(std::string_view key) { return !key.empty() && key[0] == '\0'; }

// Copies a slice's elements, row-major, to their places in the whole tensor.
void CopySlice(const TensorSlice& slice, const Shape& whole, size_t element_bytes, const char* from, char* to);

}  // namespace muster::data
