#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace muster::data {

// One line about files of a set that are not there: "first" and "missing - 1" others, of "total".
std::string MissingFilesLine(const std::filesystem::path& first, int64_t missing, int64_t total);

}  // namespace muster::data
