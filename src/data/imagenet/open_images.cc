#include "data/imagenet/open_images.h"

#include <system_error>

#include <fmt/format.h>

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

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void CheckIsFolder(const fs::path& folder, const std::string& flag) {
  if (IsFolder(folder)) return;
  if (Exists(folder)) throw InvalidArgument(fmt::format("flag {}={}: is no folder", flag, folder.string()));
  throw NotFound(fmt::format("flag {}={}: there is no such folder", flag, folder.string()));
}

// The folder of class folders; empty: there is none.
fs::path FindClassFolders(const fs::path& folder, Subset subset) {
  for (const char* name : {SubsetName(subset), subset == Subset::kValidation ? "val" : "train"})
    if (IsFolder(folder / name)) return folder / name;
  return {};
}

}  // namespace

ImageForm FindImageForm(const fs::path& folder, Subset subset) {
  if (Exists(folder / ImageCacheName(SubsetName(subset)))) return ImageForm::kCache;
  if (!FindShards(folder, SubsetName(subset)).empty()) return ImageForm::kRecords;
  return FindClassFolders(folder, subset).empty() ? ImageForm::kNone : ImageForm::kFolders;
}

std::vector<std::string> MissingImageFiles(const fs::path& folder, Subset subset) {
  if (FindImageForm(folder, subset) != ImageForm::kRecords) return {};
  return MissingShards(FindShards(folder, SubsetName(subset)));
}

std::unique_ptr<ImageSource> OpenImages(const fs::path& folder, Subset subset, int num_classes, const std::string& flag,
                                        const FolderFault& fault) {
  CheckIsFolder(folder, flag);
  const char* name = SubsetName(subset);
  const fs::path images = FindClassFolders(folder, subset), train = FindClassFolders(folder, Subset::kTrain);
  switch (FindImageForm(folder, subset)) {
    case ImageForm::kCache: return OpenImageCache(folder / ImageCacheName(name), num_classes);
    case ImageForm::kRecords: return OpenRecordImages(FindShards(folder, name), num_classes);
    case ImageForm::kFolders: return OpenFolderImages(images, train.empty() ? images : train, num_classes, fault);
    case ImageForm::kNone: break;
  }
  throw NotFound(
      fmt::format("flag {}={}: the folder has neither files {}-*-of-* (TFRecord) nor a folder {}/ of class folders",
                  flag, folder.string(), name, name));
}

}  // namespace muster::data
