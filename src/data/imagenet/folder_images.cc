#include "data/imagenet/folder_images.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "muster/error.h"

namespace muster::data {
namespace {

namespace fs = std::filesystem;

bool IsImageName(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

// What a folder holds, sorted by name: its sub-folders, or the image files in it. Hidden ones are left out.
std::vector<fs::path> List(const fs::path& folder, bool sub_folders) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    ThrowIfInterrupted();
    const fs::path& path = it->path();
    std::error_code ignored;
    const bool fits = sub_folders ? it->is_directory(ignored) : IsImageName(path) && it->is_regular_file(ignored);
    if (fits && !path.filename().string().starts_with('.')) found.push_back(path);
  }
  if (error) throw FileError("read", folder.string(), error.value());
  std::sort(found.begin(), found.end());
  return found;
}

class FolderImages : public ImageSource {
 public:
  FolderImages(const fs::path& folder, const fs::path& classes_from, int num_classes) {
    std::vector<std::string> classes;
    for (const fs::path& path : List(classes_from, true)) classes.push_back(path.filename().string());
    if (static_cast<int64_t>(classes.size()) > num_classes - 1)
      throw InvalidArgument(fmt::format("{}: {} sub-folders; at most {} (one per class) were expected", classes_from.string(),
                                        classes.size(), num_classes - 1));
    for (const fs::path& sub_folder : List(folder, true)) {
      const auto found = std::lower_bound(classes.begin(), classes.end(), sub_folder.filename().string());
      if (found == classes.end() || *found != sub_folder.filename())
        throw InvalidArgument(fmt::format("{}: {} has no class of that name", sub_folder.string(), classes_from.string()));
      const auto label = static_cast<int32_t>(found - classes.begin()) + 1;
      for (fs::path& file : List(sub_folder, false)) images_.push_back({std::move(file), label});
    }
    if (images_.empty()) throw NotFound(fmt::format("{}: no .jpg, .jpeg or .png file in its sub-folders", folder.string()));
  }

  int64_t size() const override { return static_cast<int64_t>(images_.size()); }

  EncodedImage Get(int64_t index) const override {
    const Image& image = At(index);
    return {.bytes = ReadFile(image.path.string()), .label = image.label};
  }

  std::string Where(int64_t index) const override { return At(index).path.string(); }

 private:
  struct Image {
    fs::path path;
    int32_t label;
  };
  const Image& At(int64_t index) const {
    MUSTER_CHECK(index >= 0 && index < size());
    return images_[static_cast<size_t>(index)];
  }

  std::vector<Image> images_;
};

}  // namespace

std::unique_ptr<ImageSource> OpenFolderImages(const fs::path& folder, const fs::path& classes_from, int num_classes) {
  return std::make_unique<FolderImages>(folder, classes_from, num_classes);
}

}  // namespace muster::data
