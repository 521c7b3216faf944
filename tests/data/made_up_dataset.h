#pragma once

#include <algorithm>
#include <functional>

#include "data/dataset.h"

namespace muster::data {

// A data set that a test computes: element i of image n is pixel(n, i), its label n mod classes.
class MadeUpDataset : public Dataset {
 public:
  using Pixel = std::function<float(int64_t image, int64_t element)>;
  MadeUpDataset(int64_t size, Shape shape, Pixel pixel, int num_classes = 10)
      : size_(size), shape_(shape), pixel_(std::move(pixel)), num_classes_(num_classes) {}

  int64_t size() const override { return size_; }
  const Shape& image_shape() const override { return shape_; }
  int num_classes() const override { return num_classes_; }
  int32_t Get(int64_t index, uint64_t /*epoch*/, std::span<float> image) const override {
    for (size_t i = 0; i < image.size(); ++i) image[i] = pixel_(index, static_cast<int64_t>(i));
    return static_cast<int32_t>(index % num_classes_);
  }

 private:
  int64_t size_;
  Shape shape_;
  Pixel pixel_;
  int num_classes_;
};

// A set of one-pixel images that hold their own index.
inline std::unique_ptr<Dataset> IndexDataset(int64_t size) {
  return std::make_unique<MadeUpDataset>(size, Shape{1, 1, 1},
                                         [](int64_t n, int64_t) { return static_cast<float>(n); });
}

}  // namespace muster::data
