#pragma once

#include <filesystem>
#include <memory>

#include "data/dataset.h"

namespace muster::data {

// A pair of IDX files held in memory as bytes. Get gives the pixels as 0.0 to 255.0.
std::unique_ptr<Dataset> ReadIdxDataset(const std::filesystem::path& images, const std::filesystem::path& labels,
                                        int num_classes);

}  // namespace muster::data
