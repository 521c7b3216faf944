#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/subset.h"

namespace muster::data {

// What a check of stored images found.
struct VerifiedImages {
  int64_t whole = 0;                // images that can be used
  std::vector<std::string> broken;  // one line for each other one: file, record, byte, what is wrong
  std::vector<std::string> odd;     // the same for images that can be used, but of which the decoder says something
};

// Reads and decodes every image of a part of a data set (in the forms of OpenImages) on several threads (0: one per core), past
// damage too. The lines are in the order of files and records. Throws Error where OpenImages would for want of files, and
// Error{Cancelled} after Ctrl-C.
VerifiedImages VerifyImages(const std::filesystem::path& folder, Subset subset, int num_classes, const std::string& flag, int threads);

}  // namespace muster::data
