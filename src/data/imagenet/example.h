#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/imagenet/image_source.h"

namespace muster::data {

// The image in a record of the ImageNet set: a serialised tf.train.Example with image/encoded, image/class/label and,
// where its objects were marked, image/object/bbox/{ymin,xmin,ymax,xmax}. Other features are left alone. Throws
// DataLoss saying what is missing or wrong; labels are to be below "num_classes".
EncodedImage ParseImageExample(std::string_view record, int num_classes);

// The reverse, for tests and tools.
std::string MakeImageExample(const EncodedImage& image);

}  // namespace muster::data
