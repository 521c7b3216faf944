#include "data/missing_files.h"

#include <fmt/format.h>

namespace muster::data {

std::string MissingFilesLine(const std::filesystem::path& first, int64_t missing, int64_t total) {
  if (missing == 1) return fmt::format("{}: the file is missing", first.string());
  return fmt::format("{}: this file and {} other{} of the {} are missing", first.string(), missing - 1,
                     missing == 2 ? "" : "s", total);
}

}  // namespace muster::data
