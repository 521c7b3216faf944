#include "data/normalize.h"

#include <cmath>

#include "base/check.h"
#include "base/interrupt.h"

namespace muster::data {
namespace {

constexpr float kLargestPixel = 255.0f;

class Normalized : public DatasetDecorator {
 public:
  Normalized(std::unique_ptr<Dataset> inner, Normalization normalization)
      : DatasetDecorator(std::move(inner)), normalization_(std::move(normalization)) {}

  int32_t Get(int64_t index, uint64_t epoch, std::span<float> image) const override {
    const int32_t label = inner().Get(index, epoch, image);
    const size_t channels = normalization_.offset.size();
    for (size_t c = 0; c < channels; ++c) {
      const float offset = normalization_.offset[c], scale = normalization_.scale[c];
      for (size_t i = c; i < image.size(); i += channels) image[i] = (image[i] - offset) * scale;
    }
    return label;
  }

 private:
  Normalization normalization_;
};

}  // namespace

Normalization UnitScale(int64_t channels) {
  const auto size = static_cast<size_t>(channels);
  return {std::vector<float>(size, 0.0f), std::vector<float>(size, 1.0f / kLargestPixel)};
}

Normalization Standardization(const Dataset& dataset, int64_t pad_to) {
  const auto channels = static_cast<size_t>(dataset.image_shape()[2]);
  std::vector<double> sums(channels, 0.0), squares(channels, 0.0);
  std::vector<float> image(static_cast<size_t>(dataset.image_elements()));
  for (int64_t index = 0; index < dataset.size(); ++index) {
    ThrowIfInterrupted();
    dataset.Get(index, 0, image);
    for (size_t c = 0; c < channels; ++c) {
      double sum = 0, square = 0;
      for (size_t i = c; i < image.size(); i += channels) {
        const double pixel = image[i];
        sum += pixel;
        square += pixel * pixel;
      }
      sums[c] += sum;
      squares[c] += square;
    }
  }
  const int64_t pixels_each = pad_to > 0 ? pad_to * pad_to : dataset.image_shape()[0] * dataset.image_shape()[1];
  const double pixels = static_cast<double>(dataset.size()) * static_cast<double>(pixels_each);
  Normalization result;
  for (size_t c = 0; c < channels; ++c) {
    const double mean = sums[c] / pixels;
    const double variance = squares[c] / pixels - mean * mean;
    result.offset.push_back(static_cast<float>(mean));
    result.scale.push_back(variance > 0 ? static_cast<float>(1.0 / std::sqrt(variance)) : 1.0f);
  }
  return result;
}

std::unique_ptr<Dataset> Normalize(std::unique_ptr<Dataset> inner, Normalization normalization) {
  MUSTER_CHECK(static_cast<int64_t>(normalization.offset.size()) == inner->image_shape()[2]);
  return std::make_unique<Normalized>(std::move(inner), std::move(normalization));
}

}  // namespace muster::data
