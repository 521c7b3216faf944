#include "data/imagenet/folder_images.h"

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

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
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

Error CannotRead(const fs::path& path, std::error_code error) {
  std::error_code ignored;
  const bool is_dangling = error == std::errc::no_such_file_or_directory && fs::is_symlink(path, ignored);
  return is_dangling ? NotFound(fmt::format("{}: the link leads to nothing", path.string()))
                     : FileError("read", path.string(), error.value());
}

// What a folder holds, sorted by name. Hidden ones are left out.
std::vector<fs::directory_entry> EntriesOf(const fs::path& folder, const FolderFault& fault) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    ThrowIfInterrupted();
    if (!it->path().filename().string().starts_with('.')) entries.push_back(*it);
  }
  if (error) fault(CannotRead(folder, error), false);
  std::sort(entries.begin(), entries.end());
  return entries;
}

// A link to nothing is one of them: so the other classes keep their numbers, and reading its images says what is wrong.
std::vector<fs::path> ClassFolders(const fs::path& folder, const FolderFault& fault) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : EntriesOf(folder, fault)) {
    std::error_code error;
    if (entry.is_directory(error) || error) found.push_back(entry.path());
  }
  return found;
}

std::vector<fs::path> ImageFiles(const fs::path& folder, const FolderFault& fault) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : EntriesOf(folder, fault)) {
    if (!IsImageName(entry.path())) continue;
    std::error_code error;
    if (entry.is_regular_file(error)) found.push_back(entry.path());
    else if (error) fault(CannotRead(entry.path(), error), false);
    else fault(InvalidArgument(fmt::format("{}: is not a regular file", entry.path().string())), true);
  }
  return found;
}

std::vector<std::string> NamesOf(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const fs::path& path : paths) names.push_back(path.filename().string());
  return names;
}

// 0: none of the sorted classes has the name.
int32_t LabelOf(const std::string& name, const std::vector<std::string>& classes) {
  const auto found = std::lower_bound(classes.begin(), classes.end(), name);
  return found != classes.end() && *found == name ? static_cast<int32_t>(found - classes.begin()) + 1 : 0;
}

class FolderImages : public ImageSource {
 public:
  FolderImages(const fs::path& folder, const fs::path& classes_from, int num_classes, const FolderFault& report) {
    bool is_damaged = false;
    const FolderFault fault = [&](const Error& error, bool is_skipped) {
      is_damaged = is_damaged || !is_skipped;
      report(error, is_skipped);
    };
    const std::vector<fs::path> class_folders = ClassFolders(classes_from, fault);
    const bool knows_classes = !is_damaged;
    const std::string from = classes_from.string();
    const size_t count = class_folders.size(), limit = static_cast<size_t>(num_classes) - 1;
    if (count > limit)
      fault(InvalidArgument(
                fmt::format("{}: {} sub-folders; at most {} (one per class) were expected", from, count, limit)),
            false);
    const std::vector<std::string> classes = NamesOf(class_folders);
    for (const fs::path& sub_folder : folder == classes_from ? class_folders : ClassFolders(folder, fault)) {
      const int32_t label = LabelOf(sub_folder.filename().string(), classes);
      if (label == 0 && knows_classes)
        fault(InvalidArgument(fmt::format("{}: {} has no class of that name", sub_folder.string(), from)), false);
      else AddImages(sub_folder, label, fault);
    }
    if (images_.empty() && !is_damaged)
      fault(NotFound(fmt::format("{}: no .jpg, .jpeg or .png file in its sub-folders", folder.string())), false);
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

  void AddImages(const fs::path& sub_folder, int32_t label, const FolderFault& fault) {
    for (fs::path& file : ImageFiles(sub_folder, fault)) images_.push_back({std::move(file), label});
  }

  std::vector<Image> images_;
};

}  // namespace

void ThrowFault(const Error& error, bool is_skipped) {
  if (!is_skipped) throw error;
}

std::unique_ptr<ImageSource> OpenFolderImages(const fs::path& folder, const fs::path& classes_from, int num_classes,
                                              const FolderFault& fault) {
  return std::make_unique<FolderImages>(folder, classes_from, num_classes, fault);
}

}  // namespace muster::data
