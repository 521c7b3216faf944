#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/subset.h"

namespace muster::data {

// CIFAR-10 held in memory as bytes: 32x32x3 images, labels 0 to 9. Get gives the pixels as 0.0 to 255.0.
//
// "folder" has the Python form (data_batch_1 … data_batch_5, test_batch: pickles) or the binary form (the same names
// with .bin: a label and 3072 bytes per image), directly or in its sub-folder cifar-10-batches-py or
// cifar-10-batches-bin. Every data_batch_N that is there is read, in order. "num_classes" is what the data set reports:
// at least 10. "flag" is named in messages: "--data_dir". Throws Error naming file and byte, or the image and what is
// wrong with it.
std::unique_ptr<Dataset> ReadCifar10(const std::filesystem::path& folder, Subset subset, int num_classes,
                                     const std::string& flag);

// Whether any file of that part is there.
bool HasCifar10(const std::filesystem::path& folder, Subset subset);
// A line about files of that part that are missing beside those that ReadCifar10 reads; empty: none is.
std::vector<std::string> MissingCifar10Files(const std::filesystem::path& folder, Subset subset);

}  // namespace muster::data
