#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/imagenet/image_source.h"
#include "data/subset.h"

namespace muster::data {

// The images of a data set on disk, in whichever of these forms the folder has them:
//   train.images, validation.images       decoded images (image_cache.h), made by "muster data cache"
//   train-*-of-*, validation-*-of-*       TFRecord files, as tf_cnn_benchmarks reads them
//   train/CLASS/*.JPEG, validation/… (or val/…)   image files
// "flag" is named in messages: "--data_dir". Throws Error: no such folder, nothing in it that is meant, or what the
// readers throw.
std::unique_ptr<ImageSource> OpenImages(const std::filesystem::path& folder, Subset subset, int num_classes,
                                        const std::string& flag);

}  // namespace muster::data
