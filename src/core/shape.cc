#include "muster/shape.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "muster/error.h"

namespace muster {

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank)
    throw InvalidArgument(fmt::format("a shape has at most {} dimensions, not {}", kMaxRank, dims.size()));
  for (int64_t dim : dims) {
    if (dim < 0) throw InvalidArgument(fmt::format("a dimension cannot be negative: [{}]", fmt::join(dims, ",")));
    dims_[static_cast<size_t>(rank_++)] = dim;
  }
  // So that bytes, eight per element at most, can be counted in 64 bits.
  constexpr double kMostElements = 1e18;
  double count = 1;
  for (int64_t dim : dims) count *= static_cast<double>(dim);
  if (count > kMostElements)
    throw InvalidArgument(fmt::format("a tensor of shape [{}] has too many elements", fmt::join(dims, ",")));
}

int64_t Shape::num_elements() const {
  int64_t count = 1;
  for (int64_t dim : dims()) count *= dim;
  return count;
}

Shape Shape::With(int axis, int64_t size) const {
  std::vector<int64_t> d(dims().begin(), dims().end());
  d.at(static_cast<size_t>(axis)) = size;
  return Shape(d);
}

Shape Shape::Inserted(int axis, int64_t size) const {
  std::vector<int64_t> d(dims().begin(), dims().end());
  d.insert(d.begin() + axis, size);
  return Shape(d);
}

Shape Shape::Erased(int axis) const {
  std::vector<int64_t> d(dims().begin(), dims().end());
  d.erase(d.begin() + axis);
  return Shape(d);
}

std::string Shape::ToString() const { return fmt::format("[{}]", fmt::join(dims(), ",")); }

bool operator==(const Shape& a, const Shape& b) { return std::ranges::equal(a.dims(), b.dims()); }

Shape BroadcastShapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.rank() ? 1 : a[i - (rank - a.rank())];
    const int64_t y = i < rank - b.rank() ? 1 : b[i - (rank - b.rank())];
    if (x != y && x != 1 && y != 1)
      throw InvalidArgument(fmt::format("shapes {} and {} do not broadcast", a.ToString(), b.ToString()));
    dims[static_cast<size_t>(i)] = x == 1 ? y : x;
  }
  return Shape(dims);
}

}  // namespace muster
