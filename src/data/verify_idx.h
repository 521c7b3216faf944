#pragma once

#include <filesystem>
#include <string>

#include "data/imagenet/verify_images.h"

namespace muster::data {

// Whether a folder has one of the part's two files in MNIST's form (data/dataset_files.h).
bool HasIdx(const std::filesystem::path& folder, Subset subset);

// Reads a part of a data set in MNIST's form and names what training would stop at: each file that is damaged or
// missing, each label that is out of range, test images of another size than the training's. "num_classes" 0: one more
// than the largest training label. Throws Error if neither file of the part is there, and Error{Cancelled} after
// Ctrl-C.
VerifiedImages VerifyIdx(const std::filesystem::path& folder, Subset subset, int num_classes, const std::string& flag);

}  // namespace muster::data
