#include "data/imagenet/imagenet_dataset.h"

#include <utility>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster::data {
namespace {

class ImagenetDataset : public Dataset {
 public:
  ImagenetDataset(std::unique_ptr<ImageSource> images, int num_classes, const PreprocessOptions& options)
      : images_(std::move(images)),
        num_classes_(num_classes),
        preprocess_(options),
        shape_{options.size, options.size, 3} {}

  int64_t size() const override { return images_->size(); }
  const Shape& image_shape() const override { return shape_; }
  int num_classes() const override { return num_classes_; }

  int32_t Get(int64_t index, uint64_t epoch, std::span<float> image) const override {
    const EncodedImage encoded = images_->Get(index);
    try {
      preprocess_(encoded, index, epoch, image);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", images_->Where(index), error.message()));
    }
    return encoded.label;
  }

 private:
  std::unique_ptr<ImageSource> images_;
  int num_classes_;
  Preprocessor preprocess_;
  Shape shape_;
};

}  // namespace

std::unique_ptr<Dataset> MakeImagenetDataset(std::unique_ptr<ImageSource> images, int num_classes,
                                             const PreprocessOptions& options) {
  return std::make_unique<ImagenetDataset>(std::move(images), num_classes, options);
}

}  // namespace muster::data
