#pragma once

#include <filesystem>
#include <string>

#include "data/imagenet/verify_images.h"

namespace muster::data {

// Reads a part of CIFAR-10 (ReadCifar10) and names every image that is broken; of a pickle only the first thing that is
// wrong can be told; lines tell of files that cannot be read or are missing. Throws Error if there is no file to read.
VerifiedImages VerifyCifar10(const std::filesystem::path& folder, Subset subset, const std::string& flag);

}  // namespace muster::data
