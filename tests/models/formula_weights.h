#pragma once

#include <cstdint>
#include <vector>

namespace muster::testing {

// The weights of golden/model_steps.json: element i of stream "stream" is base + scale * r, r from a hash of seed,
// stream and i (formula in the folder's README). Float32 values, exact.
std::vector<float> FormulaValues(uint64_t seed, uint64_t stream, float base, float scale, int64_t count);

}  // namespace muster::testing
