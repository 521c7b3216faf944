#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/file.h"
#include "tests/testing/golden.h"

namespace muster::data {

inline std::string GoldenPath(const std::string& name) { return (testing::GoldenDir() / name).string(); }

// Copies the files of one golden folder into another folder, where a test may damage them.
inline void CopyGolden(const std::string& name, const std::filesystem::path& to) {
  for (const auto& entry : std::filesystem::directory_iterator(testing::GoldenDir() / name))
    std::ofstream(to / entry.path().filename(), std::ios::binary) << ReadFile(entry.path().string());
}

}  // namespace muster::data
