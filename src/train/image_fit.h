#pragma once

#include <string_view>

#include "muster/models.h"
#include "muster/shape.h"

namespace muster::train {

// Throws InvalidArgument if the model's layers leave nothing of images of this shape (height, width, channels). The
// message names the size that the model needs at least and the one it was made for; "dataset" is the value of
// --dataset.
void CheckImageSize(const Model& model, const Shape& image_shape, std::string_view dataset);

}  // namespace muster::train
