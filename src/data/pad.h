#pragma once

#include <memory>

#include "data/dataset.h"

namespace muster::data {

// Images in the middle of a larger square of "size" pixels, zeros (black) around them; of an odd number of rows or
// columns one more lies below or to the right. Works on raw pixels. Throws InvalidArgument if the images are larger.
std::unique_ptr<Dataset> Pad(std::unique_ptr<Dataset> inner, int64_t size);

}  // namespace muster::data
