#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "muster/tensor.h"

namespace muster::testing {

// The folder of golden values: environment MUSTER_GOLDEN, or this source tree's tests/data/golden. Its README.md
// explains every file and its tolerances.
std::filesystem::path GoldenDir();

// A JSON table or an .npy array in that folder, by relative path: GoldenJson("ops/index.json"). Both throw Error naming
// the file if it is missing or malformed. Keep the JSON in a variable before looping over a part of it (a temporary
// would be gone in the loop), and include <nlohmann/json.hpp> in the .cc that uses the JSON.
nlohmann::json GoldenJson(std::string_view relative_path);
Tensor GoldenTensor(std::string_view relative_path);

}  // namespace muster::testing
