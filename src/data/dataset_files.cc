#include "data/dataset_files.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "muster/error.h"

namespace muster::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDefaultSet = "fashion-mnist";
constexpr std::string_view kIdxPrefix = "idx:";
constexpr std::string_view kCifar10 = "cifar10", kCifar10Prefix = "cifar10:";

struct FileRole {
  std::string_view stem;  // "train-images"
  std::string_view kind;  // "idx3-ubyte"
  fs::path DatasetFiles::*slot;
};

constexpr FileRole kRoles[] = {
    {"train-images", "idx3-ubyte", &DatasetFiles::train_images},
    {"train-labels", "idx1-ubyte", &DatasetFiles::train_labels},
    {"t10k-images", "idx3-ubyte", &DatasetFiles::test_images},
    {"t10k-labels", "idx1-ubyte", &DatasetFiles::test_labels},
};

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::vector<fs::path> CandidatesOf(const fs::path& folder, const FileRole& role) {
  std::vector<fs::path> paths;
  for (const char separator : {'-', '.'})
    for (const std::string_view suffix : {"", ".gz"})
      paths.push_back(folder / fmt::format("{}{}{}{}", role.stem, separator, role.kind, suffix));
  return paths;
}

std::optional<fs::path> FindFile(const fs::path& folder, const FileRole& role) {
  for (const fs::path& path : CandidatesOf(folder, role))
    if (IsFile(path)) return path;
  return std::nullopt;
}

// Why what is there is no file that can be read; nothing if nothing is there.
std::optional<std::string> WhyNoFile(const fs::path& path) {
  std::error_code error;
  const fs::file_status itself = fs::symlink_status(path, error);
  if (itself.type() == fs::file_type::not_found) return std::nullopt;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return "a link to nothing";
  if (error) return error.message();
  return status.type() == fs::file_type::directory ? "it is a folder" : "it is no regular file";
}

IdxFiles::Missing MissingFile(const fs::path& folder, const FileRole& role) {
  const bool is_of_training = role.stem.starts_with("train");
  for (const fs::path& path : CandidatesOf(folder, role))
    if (const std::optional<std::string> why = WhyNoFile(path))
      return {fmt::format("the file {} ({})", path.filename().string(), *why), is_of_training, /*is_there=*/true};
  return {fmt::format("{}-{}[.gz]", role.stem, role.kind), is_of_training};
}

std::string NamesOf(const std::vector<IdxFiles::Missing>& missing) {
  std::vector<std::string> names;
  for (const IdxFiles::Missing& one : missing) names.push_back(one.what);
  return fmt::format("{}", fmt::join(names, ", "));
}

DatasetFiles FindInFolder(std::string_view folder_name) {
  const fs::path folder(folder_name);
  if (folder.empty()) throw InvalidArgument("--dataset=idx: names no folder; write idx:DIR");
  if (IsFile(folder))
    throw InvalidArgument(fmt::format("--dataset=idx:{}: is a file; its folder was expected", folder.string()));
  if (!IsFolder(folder)) throw NotFound(fmt::format("--dataset=idx:{}: there is no such folder", folder.string()));
  IdxFiles found = IdxFilesIn(folder);
  if (found.missing.empty()) return std::move(found.files);
  throw NotFound(fmt::format("--dataset=idx:{}: the folder lacks {}", folder.string(), NamesOf(found.missing)));
}

// CIFAR-10's own reader says what a folder lacks.
DatasetFiles Cifar10In(const fs::path& folder) {
  if (folder.empty()) throw InvalidArgument("--dataset=cifar10: names no folder; write cifar10:DIR");
  return {.name = std::string(kCifar10), .folder = folder, .num_classes = 10};
}

// The first folder that is there.
DatasetFiles FindCifar10(const std::vector<fs::path>& folders) {
  std::vector<std::string> searched;
  for (const fs::path& folder : folders) {
    if (IsFolder(folder)) return Cifar10In(folder);
    searched.push_back(folder.string());
  }
  throw NotFound(
      fmt::format("--dataset=cifar10: not found in {}; no Debian package has it: name its folder with cifar10:DIR",
                  fmt::join(searched, ", ")));
}

// The value of the environment's MUSTER_DATA_DIR; null: not set, or empty.
const char* DataDir() {
  const char* dir = std::getenv("MUSTER_DATA_DIR");
  return dir != nullptr && *dir != '\0' ? dir : nullptr;
}

bool IsNamedSet(std::string_view spec) { return spec == kDefaultSet || spec == "mnist" || spec == kCifar10; }

std::string HowToGet(std::string_view name) {
  if (DataDir() != nullptr)
    return "MUSTER_DATA_DIR is set, so nowhere else was searched: put the files there, unset it";
  if (name == kDefaultSet)
    return "install the Debian package dataset-fashion-mnist (apt-get install dataset-fashion-mnist), or put the files "
           "there";
  return "no Debian package has it: put train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz], "
         "t10k-images-idx3-ubyte[.gz] and "
         "t10k-labels-idx1-ubyte[.gz] there";
}

}  // namespace

IdxFiles IdxFilesIn(const fs::path& folder) {
  IdxFiles found{.files = {.name = "idx", .folder = folder}};
  for (const FileRole& role : kRoles) {
    if (std::optional<fs::path> path = FindFile(folder, role)) {
      found.files.*role.slot = *path;
    } else {
      found.missing.push_back(MissingFile(folder, role));
    }
  }
  return found;
}

bool IdxFiles::has_any() const {
  const auto is_there = [](const Missing& one) { return one.is_there; };
  return missing.size() < std::size(kRoles) || std::ranges::any_of(missing, is_there);
}

std::vector<fs::path> DatasetFolders(std::string_view name) {
  if (const char* dir = DataDir(); dir != nullptr) {
    if (!IsFolder(dir))
      throw NotFound(
          fmt::format("MUSTER_DATA_DIR={}: there is no such folder; unset it to search the usual ones", dir));
    return {fs::path(dir) / name, fs::path(dir)};
  }
  return {fs::path("data") / name, fs::path("/usr/share/datasets") / name,
          fs::path("/usr/local/share/datasets") / name};
}

DatasetFiles FindDatasetFiles(std::string_view spec) {
  return FindDatasetFiles(spec, IsNamedSet(spec) ? DatasetFolders(spec) : std::vector<fs::path>());
}

DatasetFiles FindDatasetFiles(std::string_view spec, const std::vector<fs::path>& folders) {
  if (spec.starts_with(kIdxPrefix)) return FindInFolder(spec.substr(kIdxPrefix.size()));
  if (spec.starts_with(kCifar10Prefix)) return Cifar10In(spec.substr(kCifar10Prefix.size()));
  if (spec == kCifar10) return FindCifar10(folders);
  if (!IsNamedSet(spec))
    throw InvalidArgument(fmt::format("--dataset={}: no such data set; expected {}", spec, kDatasetSpecs));

  std::string incomplete;
  std::vector<std::string> searched;
  for (const fs::path& folder : folders) {
    IdxFiles found = IdxFilesIn(folder);
    found.files.name = spec;
    found.files.num_classes = 10;
    if (found.missing.empty()) return std::move(found.files);
    if (found.has_any() && incomplete.empty())
      incomplete = fmt::format(" ({} lacks {})", folder.string(), NamesOf(found.missing));
    searched.push_back(folder.string());
  }
  throw NotFound(
      fmt::format("--dataset={}: not found in {}{}; {}, or name another folder with MUSTER_DATA_DIR or idx:DIR", spec,
                  fmt::join(searched, ", "), incomplete, HowToGet(spec)));
}

}  // namespace muster::data
