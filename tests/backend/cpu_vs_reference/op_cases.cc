#include "tests/backend/cpu_vs_reference/op_cases.h"

#include <cmath>

namespace muster::testing {

Tensor Random(const Shape& shape, double low, double high) {
  static uint64_t seed = 0;
  return RandomTensor(DType::kFloat32, shape, ++seed, low, high);
}

Tensor RandomHalves(const Shape& shape, double low, double high) {
  Tensor tensor = Random(shape, low, high);
  for (float& value : tensor.data<float>()) value = std::round(2 * value) / 2;
  return tensor;
}

Tensor RandomIndices(DType dtype, const Shape& shape, int64_t limit) {
  return Converted(Random(shape, 0, static_cast<double>(limit)), dtype);
}

}  // namespace muster::testing
