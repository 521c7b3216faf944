#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::cli {

// How one tensor of two checkpoints differs.
struct TensorDifference {
  std::string name;
  std::string what;      // "only in A", "only in B", "float32[3] and float32[4]", or "" when values differ
  int64_t elements = 0;  // that differ
  int64_t of = 0;        // elements in all
  double largest = 0;    // |a - b|; infinite where only one is a number
};

struct Comparison {
  int64_t tensors = 0;  // in both, of one type and shape
  std::vector<TensorDifference> differences;
};

// Compares all tensors by name; numbers differ if |a - b| is above the tolerance (0: bits that say the same number).
// Tensors of types that Muster does not compute with are compared by their checksum. Throws what BundleReader throws.
Comparison CompareCheckpoints(const std::string& a, const std::string& b, double tolerance);

}  // namespace muster::cli
