#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "data/imagenet/image_source.h"
#include "muster/error.h"

namespace muster::data {

// Is told what is wrong with class folders, and where, while they are listed. "is_skipped": no image is lost by it,
// only a folder or a named pipe with the name of one.
using FolderFault = std::function<void(const Error& error, bool is_skipped)>;

// Throws the first one that is not skipped.
void ThrowFault(const Error& error, bool is_skipped);

// The JPEG and PNG files in the sub-folders of "folder", one sub-folder per class, in the order of their names. The
// classes are the sub-folders of "classes_from" (the training images' folder, so that all parts agree), numbered from 1
// in the order of their names, as the records of ImageNet number theirs (0 is spare). Faults are: no image, a class
// that "classes_from" lacks, more than num_classes - 1 of them, and what cannot be read (a link to nothing). If "fault"
// returns, listing goes on, and the images are those that were found.
std::unique_ptr<ImageSource> OpenFolderImages(const std::filesystem::path& folder,
                                              const std::filesystem::path& classes_from, int num_classes,
                                              const FolderFault& fault = ThrowFault);

}  // namespace muster::data
