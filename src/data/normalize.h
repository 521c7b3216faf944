#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"

namespace muster::data {

// Pixel x of channel c becomes (x - offset[c]) * scale[c].
struct Normalization {
  std::vector<float> offset;
  std::vector<float> scale;
};

// From 0..255 to 0..1, whatever the data.
Normalization UnitScale(int64_t channels);

// To mean 0 and standard deviation 1 over all pixels of each channel of "dataset" (the training images; test images
// take the same numbers). Sums of integer pixels are exact in double precision, so the result does not depend on order.
// A channel that is constant keeps the scale 1. With "pad_to" the zeros that Pad would put around the images count,
// though nobody has to add them up.
Normalization Standardization(const Dataset& dataset, int64_t pad_to = 0);

std::unique_ptr<Dataset> Normalize(std::unique_ptr<Dataset> inner, Normalization normalization);

}  // namespace muster::data
