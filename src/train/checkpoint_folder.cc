#include "train/checkpoint_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "data/format/bundle_reader.h"
#include "data/format/bundle_writer.h"
#include "data/format/checkpoint_state.h"
#include "muster/error.h"

namespace muster::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexEnding = ".index";
constexpr char kMetaEnding[] = ".meta";

bool IsSamePath(const fs::path& a, const fs::path& b) { return a.lexically_normal() == b.lexically_normal(); }

// The checkpoint that a file of data or of its graph belongs to; "": it is neither.
std::string CheckpointOfPart(const std::string& path) {
  if (path.ends_with(kMetaEnding)) return path.substr(0, path.size() - std::string_view(kMetaEnding).size());
  const size_t mark = path.rfind(".data-");
  return mark == path.npos || path.find('/', mark) != path.npos ? "" : path.substr(0, mark);
}

// Oldest first; nothing if the file is missing or damaged.
std::vector<std::string> StatePaths(const std::string& folder) try {
  std::vector<std::string> paths;
  for (const std::string& path : data::ReadCheckpointState(folder).all)
    paths.push_back(data::ResolveCheckpoint(folder, path));
  return paths;
} catch (const Error&) {
  return {};
}

}  // namespace

int64_t StepOfCheckpoint(const std::string& path) {
  const size_t dash = path.find_last_not_of("0123456789");
  const std::string digits = dash == std::string::npos ? path : path.substr(dash + 1);
  return digits.empty() || digits.size() > 18 ? -1 : std::stoll(digits);
}

bool CheckpointExists(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(data::IndexPath(path), error);
}

std::vector<std::string> CheckpointsIn(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) throw NotFound(fmt::format("{}: no such folder", folder));
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (path.ends_with(kIndexEnding)) found.push_back(path.substr(0, path.size() - kIndexEnding.size()));
  }
  const std::vector<std::string> listed = StatePaths(folder);
  const auto rank = [&](const std::string& path) {
    const auto at = std::ranges::find_if(listed, [&](const std::string& p) { return IsSamePath(p, path); });
    return at == listed.end() ? -1 : at - listed.begin();
  };
  std::ranges::sort(found, std::ranges::greater{},
                    [&](const std::string& path) { return std::make_tuple(rank(path), StepOfCheckpoint(path), path); });
  return found;
}

std::optional<Error> WrongWithCheckpoint(const std::string& path) try {
  const data::BundleReader bundle(path);
  bundle.VerifyIndex();
  for (const data::BundleEntry& entry : bundle.entries()) bundle.Verify(entry);
  return std::nullopt;
} catch (const Error& error) {
  return error;
}

// InvalidArgument: a folder, or a link to itself, in the place of a file.
bool IsDamage(const Error& error) {
  return error.code() == Code::kDataLoss || error.code() == Code::kNotFound || error.code() == Code::kInvalidArgument;
}

IntactCheckpoint NewestIntactCheckpoint(const std::string& folder, const std::string& broken) {
  IntactCheckpoint found;
  if (!broken.empty()) found.damaged.push_back(broken);
  for (const std::string& path : CheckpointsIn(folder)) {
    if (IsSamePath(path, broken)) continue;
    const std::optional<Error> wrong = WrongWithCheckpoint(path);
    if (!wrong) {
      found.path = path;
      break;
    }
    (IsDamage(*wrong) ? found.damaged : found.unread).push_back(path);
  }
  return found;
}

void RemoveCheckpoint(const std::string& path) {
  data::RemoveBundle(path);
  std::error_code error;
  fs::remove(path + kMetaEnding, error);
}

void RemoveRemnants(const std::string& folder, const std::string& name, const std::string& newest) {
  std::set<std::string> remnants;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = CheckpointOfPart(entry.path().string());
    const std::string file = fs::path(path).filename().string();
    const bool is_ours = file.size() > name.size() + 1 && file.starts_with(name + "-") &&
                         file.find_first_not_of("0123456789", name.size() + 1) == file.npos;
    if (is_ours && !CheckpointExists(path) && !IsSamePath(path, newest)) remnants.insert(path);
  }
  for (const std::string& path : remnants) RemoveCheckpoint(path);
}

bool HasUnlistedCheckpoints(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error) || fs::exists(fs::path(folder) / data::kCheckpointStateFile, error))
    return false;
  return std::ranges::any_of(CheckpointsIn(folder), [](const std::string& path) {
    return fs::path(path).filename().string() == fmt::format("{}-{}", kCheckpointName, StepOfCheckpoint(path));
  });
}

std::string HowToList(const std::string& folder, const std::string& path) {
  return fmt::format("write 'model_checkpoint_path: \"{}\"' into {}", fs::path(path).filename().string(),
                     (fs::path(folder) / data::kCheckpointStateFile).string());
}

std::vector<std::string> CheckpointsOf(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    std::vector<std::string> paths = CheckpointsIn(path);
    if (paths.empty()) throw NotFound(fmt::format("{}: holds no checkpoint (no file NAME.index)", path));
    return paths;
  }
  const std::string prefix = path.ends_with(kIndexEnding) ? path.substr(0, path.size() - kIndexEnding.size()) : path;
  if (!CheckpointExists(prefix))
    throw NotFound(fmt::format("{}: no such folder or checkpoint (no file {})", path, data::IndexPath(prefix)));
  return {prefix};
}

}  // namespace muster::train
