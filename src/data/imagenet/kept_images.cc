#include "data/imagenet/kept_images.h"

#include <string>
#include <utility>

#include "base/mutex.h"

namespace muster::data {
namespace {

class KeptImages : public ImageSource {
 public:
  explicit KeptImages(std::unique_ptr<ImageSource> images)
      : images_(std::move(images)), kept_(static_cast<size_t>(images_->size())) {}
  int64_t size() const override { return images_->size(); }
  std::string Where(int64_t index) const override { return images_->Where(index); }

  EncodedImage Get(int64_t index) const override {
    const auto at = static_cast<size_t>(index);
    {
      MutexLock lock(mutex_);
      if (kept_[at] != nullptr) return *kept_[at];
    }
    // not under the lock: others may read meanwhile
    auto image = std::make_unique<const EncodedImage>(images_->Get(index));
    if (image->is_raw())
      return *image;  // the system keeps mapped pixels; the source sees when their file becomes shorter
    MutexLock lock(mutex_);
    if (kept_[at] == nullptr) kept_[at] = std::move(image);
    return *kept_[at];
  }

 private:
  std::unique_ptr<ImageSource> images_;
  mutable Mutex mutex_;
  mutable std::vector<std::unique_ptr<const EncodedImage>> kept_ MUSTER_GUARDED_BY(mutex_);  // null: not read yet
};

class FirstImage : public ImageSource {
 public:
  explicit FirstImage(std::unique_ptr<ImageSource> images)
      : images_(std::move(images)), first_(images_->Get(0)), pixels_(first_.mapped) {
    first_.mapped = pixels_;
  }
  int64_t size() const override { return images_->size(); }
  EncodedImage Get(int64_t /*index*/) const override { return first_; }
  std::string Where(int64_t /*index*/) const override { return images_->Where(0); }

 private:
  std::unique_ptr<ImageSource> images_;
  EncodedImage first_;
  std::string pixels_;  // of its own, if it is raw: the source's would be lost if its file became shorter
};

}  // namespace

std::unique_ptr<ImageSource> KeepImages(std::unique_ptr<ImageSource> images) {
  return std::make_unique<KeptImages>(std::move(images));
}
std::unique_ptr<ImageSource> RepeatFirstImage(std::unique_ptr<ImageSource> images) {
  return std::make_unique<FirstImage>(std::move(images));
}

}  // namespace muster::data
