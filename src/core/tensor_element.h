#pragma once

#include <cstddef>

#include "muster/tensor.h"

namespace muster {

// Element i (row-major) of a host tensor of any type as a double; int64 beyond 2^53 is rounded. Any thread.
double ElementAsDouble(const Tensor& value, size_t i);

}  // namespace muster
