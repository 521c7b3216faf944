#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/imagenet/folder_images.h"
#include "data/imagenet/image_source.h"
#include "data/subset.h"

namespace muster::data {

// The forms in which a folder may have the images of a data set:
//   train.images, validation.images       decoded images (image_cache.h), made by "muster data cache"
//   train-*-of-*, validation-*-of-*       TFRecord files, as tf_cnn_benchmarks reads them
//   train/CLASS/*.JPEG, validation/… (or val/…)   image files
enum class ImageForm { kNone, kCache, kRecords, kFolders };

// The first of them, in that order, that the folder has of a part; kNone: nothing of that part is there.
ImageForm FindImageForm(const std::filesystem::path& folder, Subset subset);

// Lines about record files that are missing beside those that OpenImages reads: train-00001-of-00003 where number 0 is
// there.
std::vector<std::string> MissingImageFiles(const std::filesystem::path& folder, Subset subset);

// Opens the images in the form that FindImageForm finds. "flag" is named in messages: "--data_dir". Throws Error: no
// such folder, nothing in it that is meant, or what the readers throw. "fault" is told what is wrong with class
// folders.
std::unique_ptr<ImageSource> OpenImages(const std::filesystem::path& folder, Subset subset, int num_classes,
                                        const std::string& flag, const FolderFault& fault = ThrowFault);

}  // namespace muster::data
