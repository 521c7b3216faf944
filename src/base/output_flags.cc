#include "base/output_flags.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "muster/error.h"

namespace muster {
namespace {

void Check(const std::string& flag, const std::string& value, const char* kind, void (*check)(const std::string&)) {
  if (value.empty()) throw InvalidArgument(fmt::format("flag --{}=: needs the name of a {}", flag, kind));
  try {
    check(value);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("flag --{}: {}", flag, error.what()));
  }
}

// Whether the file's first byte that is no space begins an object or a list; true for what is empty, or no regular file
// at all.
bool LooksLikeJson(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return true;
  std::ifstream file(path, std::ios::binary);
  char first = 0;
  return !(file >> first) || first == '{' || first == '[';
}

}  // namespace

void CheckFileFlag(const std::string& flag, const std::string& path) { Check(flag, path, "file", CheckWritable); }

void CheckJsonFlag(const std::string& flag, const std::string& path) {
  CheckFileFlag(flag, path);
  if (IsStandardStream(path) || LooksLikeJson(path)) return;
  throw InvalidArgument(
      fmt::format("flag --{}: {} is there and is no JSON; it is not overwritten, so name another file", flag, path));
}

void CheckFolderFlag(const std::string& flag, const std::string& folder) { Check(flag, folder, "folder", CheckFolder); }

void CheckDistinctFiles(const std::vector<std::pair<std::string, std::string>>& files) {
  std::map<std::filesystem::path, std::string> flag_of;
  for (const auto& [flag, path] : files) {
    if (path.empty()) continue;
    std::error_code unknown;
    const std::filesystem::path real =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path, unknown), unknown);
    const auto [it, is_new] = flag_of.emplace(real.empty() ? std::filesystem::path(path) : real, flag);
    if (!is_new)
      throw InvalidArgument(fmt::format("flags --{} and --{} name the same file {}: one would overwrite the other",
                                        it->second, flag, path));
  }
}

void CheckNotAFile(const std::string& flag, const std::string& folder) {
  std::error_code unknown;
  if (std::filesystem::exists(folder, unknown) && !std::filesystem::is_directory(folder, unknown))
    throw InvalidArgument(fmt::format("flag --{}: {} is no folder", flag, folder));
}

}  // namespace muster
