// No file may name a place that only one machine has.
#include <gtest/gtest.h>

#include <regex>

#include "tests/structure/rooms.h"

namespace muster::structure {
namespace {

const std::filesystem::path kCheckout = MUSTER_SOURCE_DIR;

// The files that belong to the project: not what a build or a tool leaves, not recorded data.
std::vector<std::string> ProjectFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kCheckout)) {
    const std::string name = entry.path().filename().string();
    if (name == "build" || name == ".git" || name == ".cache" || name == ".vscode") continue;
    if (entry.is_regular_file()) files.push_back(name);
    if (!entry.is_directory()) continue;
    for (std::string& file : FilesBelow(kCheckout, name)) {
      if (!file.starts_with("tests/data/")) files.push_back(std::move(file));
    }
  }
  return files;
}

bool IsText(const std::string& content) { return content.find('\0') == std::string::npos; }

void ExpectNoFileMatches(const std::regex& pattern) {
  for (const std::string& file : ProjectFiles()) {
    const std::string content = ReadText(kCheckout / file);
    if (!IsText(content)) continue;
    std::smatch match;
    // Line by line: std::regex recurses once per character.
    std::istringstream lines(content);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.size() < 4000 && std::regex_search(line, match, pattern)) {
        ADD_FAILURE() << file << ":" << number << " names " << match.str();
      }
    }
  }
}

// The patterns are put together from pieces, so that this file does not match them itself.
TEST(PortableText, NoFileNamesAFolderOfOneMachine) {
  const std::string folders = "(work|root|home)";
  ExpectNoFileMatches(std::regex("(^|[\\s\"'`(=:])/" + folders + "/[A-Za-z0-9_.]"));
}

TEST(PortableText, NoFileNamesAPackageRegistry) {
  std::string hosts;
  for (const char* name : {"py|pi\\.org", "python|hosted\\.org", "deb\\.|debian\\.org", "security\\.|debian\\.org",
                           "ftp\\.[a-z.]*|debian\\.org", "registry\\.|npmjs", "crates\\.|io", "anaconda\\.|org"}) {
    std::string host = name;
    host.erase(host.find('|'), 1);
    hosts += (hosts.empty() ? "" : "|") + host;
  }
  ExpectNoFileMatches(std::regex(hosts));
}

}  // namespace
}  // namespace muster::structure
