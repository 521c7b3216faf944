#pragma once

#include <memory>

#include "data/imagenet/image_source.h"

namespace muster::data {

// Keeps each image, as it is stored, in memory once it was read (--datasets_use_caching). Decoded images are left to
// the system, which keeps what is mapped.
std::unique_ptr<ImageSource> KeepImages(std::unique_ptr<ImageSource> images);

// Reads the first image and gives it for every number (--datasets_repeat_cached_sample): no file is read in a step.
// Throws what reading it throws.
std::unique_ptr<ImageSource> RepeatFirstImage(std::unique_ptr<ImageSource> images);

}  // namespace muster::data
