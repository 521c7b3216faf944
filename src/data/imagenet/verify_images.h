#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/system_memory.h"
#include "data/subset.h"
#include "muster/error.h"

namespace muster::data {

// What a check of stored images found.
struct VerifiedImages {
  int64_t whole = 0;  // images that can be used
  std::vector<std::string>
      broken;                    // one line for each other one: file, record, byte, what is wrong; or for a whole file
  std::vector<std::string> odd;  // the same for images that can be used, but of which the decoder says something
  std::vector<std::string> unread;  // the same for what was not read for want of memory, which says nothing about it

  // Files the line under what "error" means: broken, or unread. Throws the error again after Ctrl-C.
  void Add(const Error& error, const std::string& line);
};

// Reads and decodes every image of a part of a data set, in the form in which OpenImages would read it, on several
// threads (0: one per core), past damage too. The lines are in the order of files and records; files that cannot be
// read at all, folders without an image and record files that are missing are lines too; so is each class folder or
// image file that cannot be opened, in front of those of the images. The records of packed files that are in memory at
// a time share half of what is free in "memory". Throws Error if nothing of that part is there, and Error{Cancelled}
// after Ctrl-C.
VerifiedImages VerifyImages(const std::filesystem::path& folder, Subset subset, int num_classes,
                            const std::string& flag, int threads, const SystemMemory& memory = ReadSystemMemory());

}  // namespace muster::data
