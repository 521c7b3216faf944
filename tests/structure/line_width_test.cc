// Lines of code fit beside each other on a screen: 120 columns, as .clang-format says.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/structure/rooms.h"

namespace muster::structure {
namespace {

constexpr int64_t kColumns = 120;

// Of UTF-8: bytes that begin a character.
int64_t Width(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

TEST(LineWidth, NoLineIsLongerThanTheFormatterAllows) {
  const std::filesystem::path checkout = MUSTER_SOURCE_DIR;
  for (const char* folder : {"benchmarks", "examples", "include", "src", "tests"})
    for (const std::string& file : FilesBelow(checkout, folder)) {
      if (!file.ends_with(".h") && !file.ends_with(".cc")) continue;
      std::istringstream lines(ReadText(checkout / file));
      int number = 0;
      for (std::string line; std::getline(lines, line);)
        if (++number; Width(line) > kColumns) ADD_FAILURE() << file << ":" << number << " has " << Width(line);
    }
}

}  // namespace
}  // namespace muster::structure
