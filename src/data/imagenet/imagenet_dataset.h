#pragma once

#include <memory>

#include "data/dataset.h"
#include "data/imagenet/preprocess.h"

namespace muster::data {

// A data set of stored images: each is read, decoded and made an input when it is asked for. Errors name the image's
// file and place.
std::unique_ptr<Dataset> MakeImagenetDataset(std::unique_ptr<ImageSource> images, int num_classes,
                                             const PreprocessOptions& options);

}  // namespace muster::data
