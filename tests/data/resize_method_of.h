#pragma once

#include <string>

#include "data/image/resize.h"

namespace muster::data {

// The method that a golden file or a flag names.
inline ResizeMethod MethodOf(const std::string& name) {
  if (name == "nearest") return ResizeMethod::kNearest;
  if (name == "bicubic") return ResizeMethod::kBicubic;
  return name == "area" ? ResizeMethod::kArea : ResizeMethod::kBilinear;
}

}  // namespace muster::data
