#include "data/imagenet/open_images.h"

#include <system_error>

#include <fmt/format.h>

#include "data/imagenet/folder_images.h"
#include "data/imagenet/image_cache.h"
#include "data/imagenet/record_images.h"
#include "muster/error.h"

namespace muster::data {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void CheckIsFolder(const fs::path& folder, const std::string& flag) {
  std::error_code ignored;
  if (IsFolder(folder)) return;
  if (fs::exists(folder, ignored)) throw InvalidArgument(fmt::format("flag {}={}: is no folder", flag, folder.string()));
  throw NotFound(fmt::format("flag {}={}: there is no such folder", flag, folder.string()));
}

// The folder of class folders; empty: there is none.
fs::path FindClassFolders(const fs::path& folder, Subset subset) {
  for (const char* name : {SubsetName(subset), subset == Subset::kValidation ? "val" : "train"})
    if (IsFolder(folder / name)) return folder / name;
  return {};
}

}  // namespace

std::unique_ptr<ImageSource> OpenImages(const fs::path& folder, Subset subset, int num_classes, const std::string& flag) {
  CheckIsFolder(folder, flag);
  std::error_code ignored;
  if (const fs::path cache = folder / ImageCacheName(SubsetName(subset)); fs::exists(cache, ignored)) return OpenImageCache(cache, num_classes);
  if (const auto shards = FindShards(folder, SubsetName(subset)); !shards.empty()) return OpenRecordImages(shards, num_classes);
  const fs::path images = FindClassFolders(folder, subset), train = FindClassFolders(folder, Subset::kTrain);
  if (!images.empty()) return OpenFolderImages(images, train.empty() ? images : train, num_classes);
  throw NotFound(fmt::format("flag {}={}: the folder has neither files {}-*-of-* (TFRecord) nor a folder {}/ of class folders", flag,
                             folder.string(), SubsetName(subset), SubsetName(subset)));
}

}  // namespace muster::data
