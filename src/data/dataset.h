#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "muster/shape.h"

namespace muster::data {

// Images of one size with a class each. Data sets are stacked as decorators: one reads, the next augments, the next
// normalises (pipeline.h puts them together). Immutable after construction: any number of threads may call Get.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  // Height, width, channels.
  virtual const Shape& image_shape() const = 0;
  virtual int num_classes() const = 0;

  // Writes sample "index" (0 <= index < size()) as height x width x channels floats into "image" and returns its label.
  // "epoch" counts passes over the data; it only changes what is drawn at random. The result depends on nothing but the
  // data set, index and epoch.
  virtual int32_t Get(int64_t index, uint64_t epoch, std::span<float> image) const = 0;

  int64_t image_elements() const { return image_shape().num_elements(); }
};

// A data set that changes another one's images; it owns it.
class DatasetDecorator : public Dataset {
 public:
  explicit DatasetDecorator(std::unique_ptr<Dataset> inner) : inner_(std::move(inner)) {}
  int64_t size() const override { return inner_->size(); }
  const Shape& image_shape() const override { return inner_->image_shape(); }
  int num_classes() const override { return inner_->num_classes(); }

 protected:
  const Dataset& inner() const { return *inner_; }

 private:
  std::unique_ptr<Dataset> inner_;
};

}  // namespace muster::data
