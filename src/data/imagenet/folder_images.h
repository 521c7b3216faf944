#pragma once

#include <filesystem>
#include <memory>

#include "data/imagenet/image_source.h"

namespace muster::data {

// The JPEG and PNG files in the sub-folders of "folder", one sub-folder per class, in the order of their names. The classes
// are the sub-folders of "classes_from" (the training images' folder, so that all parts agree), numbered from 1 in the
// order of their names, as the records of ImageNet number theirs (0 is spare). Throws Error naming the folder if there is
// no image, a class that "classes_from" lacks, or more than num_classes - 1 of them.
std::unique_ptr<ImageSource> OpenFolderImages(const std::filesystem::path& folder, const std::filesystem::path& classes_from,
                                              int num_classes);

}  // namespace muster::data
