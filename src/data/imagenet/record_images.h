#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/system_memory.h"
#include "data/imagenet/image_source.h"

namespace muster::data {

// The images of TFRecord files (ParseImageExample), in the order of the files given and of the records in them. Opening
// reads where each record begins, with several threads; records are read and their checksums verified in Get. Files
// that are packed (gzip, zlib) cannot be read at random and are unpacked into memory, all together into half of what is
// free in "memory". Throws Error naming file, record and byte if a file cannot be read to its end, if it does not fit
// there, or holds no record; Error{Cancelled} after Ctrl-C.
std::unique_ptr<ImageSource> OpenRecordImages(const std::vector<std::filesystem::path>& files, int num_classes,
                                              const SystemMemory& memory = ReadSystemMemory());

// The files NAME-*-of-* of a folder, in order. Empty: there are none.
std::vector<std::filesystem::path> FindShards(const std::filesystem::path& folder, std::string_view name);

// What is not there of files NAME-00000-of-00003 … of which "shards" (of FindShards) are the others: a line for each
// "of".
std::vector<std::string> MissingShards(const std::vector<std::filesystem::path>& shards);

}  // namespace muster::data
