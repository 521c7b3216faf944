#include "data/idx_dataset.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "data/idx.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr int kMaxClasses = 256;  // a label is one byte

class IdxDataset : public Dataset {
 public:
  IdxDataset(IdxImages images, std::vector<uint8_t> labels, int num_classes)
      : images_(std::move(images)),
        labels_(std::move(labels)),
        num_classes_(num_classes),
        shape_{images_.height, images_.width, images_.channels} {}

  int64_t size() const override { return images_.count; }
  const Shape& image_shape() const override { return shape_; }
  int num_classes() const override { return num_classes_; }

  int32_t Get(int64_t index, uint64_t /*epoch*/, std::span<float> image) const override {
    MUSTER_CHECK(index >= 0 && index < size() && static_cast<int64_t>(image.size()) == images_.image_bytes());
    const uint8_t* pixels = images_.pixels.data() + index * images_.image_bytes();
    std::copy_n(pixels, image.size(), image.begin());
    return labels_[static_cast<size_t>(index)];
  }

 private:
  IdxImages images_;
  std::vector<uint8_t> labels_;
  int num_classes_;
  Shape shape_;
};

}  // namespace

std::unique_ptr<Dataset> ReadIdxDataset(const std::filesystem::path& images_path,
                                        const std::filesystem::path& labels_path, int num_classes) {
  IdxImages images = ReadIdxImages(images_path);
  const int limit = num_classes > 0 ? num_classes : kMaxClasses;
  std::vector<uint8_t> labels = ReadIdxLabels(labels_path, limit, images_path, images.count);
  if (num_classes == 0) num_classes = *std::max_element(labels.begin(), labels.end()) + 1;
  return std::make_unique<IdxDataset>(std::move(images), std::move(labels), num_classes);
}

}  // namespace muster::data
