#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace muster {

// The dimensions of a tensor, outermost first. A value of at most kMaxRank dimensions, each at least 0; rank 0 is a
// scalar. Constructing a larger or negative one throws InvalidArgument.
class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  int64_t num_elements() const;

  // A copy with one dimension changed, inserted or removed.
  Shape With(int axis, int64_t size) const;
  Shape Inserted(int axis, int64_t size) const;
  Shape Erased(int axis) const;

  // TensorFlow's spelling: "[2,3]", "[]".
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

// NumPy's broadcasting rule; throws InvalidArgument naming both shapes when they do not go together.
Shape BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace muster
