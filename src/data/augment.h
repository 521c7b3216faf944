#pragma once

#include <memory>

#include "data/dataset.h"

namespace muster::data {

// Random changes of training images. What is drawn for a sample depends on (seed, epoch, index) alone, so that neither
// the number of threads nor the order of reading matters.
struct AugmentOptions {
  bool flip = false;  // mirror left to right with probability 1/2
  int max_shift = 0;  // move by -max_shift .. max_shift pixels down and right, zeros (black) come in at the edges; that
                      // is a random crop of the image padded by max_shift on every side
  uint64_t seed = 0;

  bool changes_anything() const { return flip || max_shift > 0; }
};

// Works on raw pixels, that is before normalisation.
std::unique_ptr<Dataset> Augment(std::unique_ptr<Dataset> inner, const AugmentOptions& options);

// The two operations on one image of "shape" (height, width, channels), in place.
void FlipLeftRight(std::span<float> image, const Shape& shape);
void Shift(std::span<float> image, const Shape& shape, int64_t down, int64_t right);

}  // namespace muster::data
