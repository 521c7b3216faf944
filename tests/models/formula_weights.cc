#include "tests/models/formula_weights.h"

namespace muster::testing {

std::vector<float> FormulaValues(uint64_t seed, uint64_t stream, float base, float scale, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  const uint64_t start = (seed << 48) + (stream << 32) + 0x9E3779B97F4A7C15u;
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t z = start + i;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = z ^ (z >> 31);
    const float r = static_cast<float>(static_cast<int32_t>(z >> 40) - 8388608) * 0x1p-23f;
    values[i] = base + scale * r;
  }
  return values;
}

}  // namespace muster::testing
