#pragma once

#include <cmath>
#include <limits>

namespace muster::train {

// For texts: a NaN's sign says nothing (inf - inf gives a negative one on x86), so "-nan" is printed as "nan".
inline double WithoutNanSign(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

}  // namespace muster::train
