#pragma once

#include <span>

#include "data/image/image.h"
#include "data/image/random_numbers.h"

namespace muster::data {

// How a training image is cut out at random; the defaults are tf_cnn_benchmarks'.
struct RandomCropOptions {
  float min_object_covered = 0.1f;               // share of at least one object's area that must be in it
  float min_aspect = 0.75f, max_aspect = 1.33f;  // width / height
  float min_area = 0.05f, max_area = 1.0f;       // share of the image
  int max_attempts = 100;                        // then the whole image is taken
};

// Draws a part of an image in the way of TensorFlow's sample_distorted_bounding_box: an aspect ratio, then a height for
// which the area is within bounds, then a place; repeated until it covers enough of an object. Without boxes the whole
// image is the object. Boxes are cut at the image's edges; one that is empty or the wrong way round counts for nothing.
CropWindow DrawCrop(const ImageSize& size, std::span<const Box> boxes, const RandomCropOptions& options,
                    RandomNumbers* random);

}  // namespace muster::data
