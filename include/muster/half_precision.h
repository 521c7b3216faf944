#pragma once

#include "muster/dtype.h"

namespace muster {

// Whether convolutions and matrix products of this type run on instructions of this CPU. If not, a half-precision type
// is computed in float32, and results are rounded and stored as half.
bool HasInstructionsFor(DType dtype);

}  // namespace muster
