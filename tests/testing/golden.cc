#include "tests/testing/golden.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/testing/npy.h"

namespace muster::testing {

std::filesystem::path GoldenDir() {
  const char* dir = std::getenv("MUSTER_GOLDEN");
  if (dir != nullptr && *dir != '\0') return dir;
  return std::filesystem::path(MUSTER_SOURCE_DIR) / "tests" / "data" / "golden";
}

nlohmann::json GoldenJson(std::string_view relative_path) {
  const std::filesystem::path path = GoldenDir() / relative_path;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw NotFound(fmt::format("{}: cannot be opened; MUSTER_GOLDEN names the folder of golden values", path.string()));
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    throw DataLoss(fmt::format("{}: {}", path.string(), error.what()));
  }
}

Tensor GoldenTensor(std::string_view relative_path) { return ReadNpy(GoldenDir() / relative_path); }

}  // namespace muster::testing
