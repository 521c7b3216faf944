#pragma once

#include <filesystem>
#include <string>

#include "data/imagenet/verify_images.h"

namespace muster::data {

// Whether a folder has something with the name of a file in MNIST's form (data/dataset_files.h).
bool HasIdx(const std::filesystem::path& folder);

// Reads a part of a data set in MNIST's form and names what training would stop at: each file that is damaged or
// missing, the first hundred labels that are out of range and how many more there are, test images of another size than
// the training's. "num_classes" 0: one more than the largest training label. Keeps no pixels. Throws Error if the
// folder has none of the four files, and Error{Cancelled} after Ctrl-C.
VerifiedImages VerifyIdx(const std::filesystem::path& folder, Subset subset, int num_classes, const std::string& flag);

}  // namespace muster::data
