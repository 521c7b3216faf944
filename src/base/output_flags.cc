#include "base/output_flags.h"

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

}  // namespace

void CheckFileFlag(const std::string& flag, const std::string& path) { Check(flag, path, "file", CheckWritable); }

void CheckFolderFlag(const std::string& flag, const std::string& folder) { Check(flag, folder, "folder", CheckFolder); }

}  // namespace muster
