#pragma once

#include "muster/scope.h"

namespace muster::ops {

// Streams keyed by (graph seed, seed, node name, step, element): equal on every device and with any number of threads.
Output RandomUniform(const Scope& scope, DType dtype, const Shape& shape, int64_t seed = 0);  // [0, 1)
Output RandomUniformInt(const Scope& scope, DType dtype, const Shape& shape, int64_t minval, int64_t maxval,
                        int64_t seed = 0);
Output RandomStandardNormal(const Scope& scope, DType dtype, const Shape& shape, int64_t seed = 0);  // Box-Muller
// Standard normal restricted to two standard deviations: the distribution of drawing again what lies beyond.
Output TruncatedNormal(const Scope& scope, DType dtype, const Shape& shape, int64_t seed = 0);

}  // namespace muster::ops
