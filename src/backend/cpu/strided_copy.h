#pragma once

#include <cstdint>
#include <vector>

#include "muster/shape.h"

namespace muster::cpu {

// One axis of a copy: "size" elements, "to" apart in the target and "from" apart in the source.
struct CopyAxis {
  int64_t size, to, from;
};

// Copies a box of elements between two arrays with strides of their own; a source stride of 0 repeats, a negative one
// mirrors. Contiguous runs go by memcpy and transposed planes tile by tile; threads share out the box.
class StridedCopy {
 public:
  // Axes outermost first, at least one of them with target stride 1 or size 1.
  explicit StridedCopy(const std::vector<CopyAxis>& axes);

  // T: float, or uint16_t for any type of 16 bits.
  template <typename T>
  void Run(const T* from, T* to, int threads) const;

 private:
  template <typename T>
  void CopyPiece(const T* from, T* to, int64_t begin, int64_t end) const;

  std::vector<CopyAxis> outer_;  // one piece of work for each combination of their indices and each split of the line
  CopyAxis plane_{1, 0, 0};      // more than one element only if the source runs along it: a transposition
  CopyAxis line_{1, 1, 1};       // along which the target runs
  int64_t boxes_ = 1, splits_ = 1;
};

// Row-major strides, in elements.
std::vector<int64_t> StridesOf(const Shape& shape);

}  // namespace muster::cpu
