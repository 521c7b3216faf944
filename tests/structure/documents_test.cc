// Documents that lead nowhere are worse than none.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/structure/rooms.h"

namespace muster::structure {
namespace {

const std::filesystem::path kCheckout = MUSTER_SOURCE_DIR;

std::vector<std::string> Documents() {
  std::vector<std::string> documents;
  for (const char* name : {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"}) documents.push_back(name);
  for (const char* folder : {"docs", "src", "tests", "examples", "benchmarks"}) {
    for (std::string& file : FilesBelow(kCheckout, folder)) {
      if (file.ends_with(".md") && !file.starts_with("tests/data/")) documents.push_back(std::move(file));
    }
  }
  return documents;
}

TEST(Documents, EveryLinkToAFileLeadsToOne) {
  const std::regex link(R"(\]\(([^)#:\s]+)(#[^)]*)?\))");
  for (const std::string& document : Documents()) {
    std::istringstream lines(ReadText(kCheckout / document));
    for (std::string line; std::getline(lines, line);) {
      for (auto it = std::sregex_iterator(line.begin(), line.end(), link); it != std::sregex_iterator(); ++it) {
        const std::filesystem::path target = (kCheckout / document).parent_path() / (*it)[1].str();
        EXPECT_TRUE(std::filesystem::exists(target)) << document << " links to " << (*it)[1].str();
      }
    }
  }
}

}  // namespace
}  // namespace muster::structure
