#include "data/augment.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/check.h"
#include "base/philox.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr std::string_view kStream = "data/augment";

// Uniform in -limit .. limit.
int64_t UniformShift(uint32_t word, int limit) {
  const uint64_t choices = 2 * static_cast<uint64_t>(limit) + 1;
  return static_cast<int64_t>((word * choices) >> 32) - limit;
}

class Augmented : public DatasetDecorator {
 public:
  Augmented(std::unique_ptr<Dataset> inner, const AugmentOptions& options)
      : DatasetDecorator(std::move(inner)),
        options_(options),
        random_(options.seed, HashName(kStream.data(), kStream.size())) {}

  int32_t Get(int64_t index, uint64_t epoch, std::span<float> image) const override {
    const int32_t label = inner().Get(index, epoch, image);
    const Philox::Block words = random_(epoch, static_cast<uint64_t>(index));
    if (options_.flip && words[0] >> 31 != 0) FlipLeftRight(image, image_shape());
    if (options_.max_shift > 0)
      Shift(image, image_shape(), UniformShift(words[1], options_.max_shift),
            UniformShift(words[2], options_.max_shift));
    return label;
  }

 private:
  AugmentOptions options_;
  Philox random_;
};

}  // namespace

std::unique_ptr<Dataset> Augment(std::unique_ptr<Dataset> inner, const AugmentOptions& options) {
  MUSTER_CHECK(options.max_shift >= 0);
  const Shape shape = inner->image_shape();
  const int64_t side = std::min(shape[0], shape[1]);
  if (options.max_shift >= side)
    throw InvalidArgument(fmt::format("--shift_crop={}: the images have {}x{} pixels; at most {} was expected",
                                      options.max_shift, shape[0], shape[1], side - 1));
  return std::make_unique<Augmented>(std::move(inner), options);
}

void FlipLeftRight(std::span<float> image, const Shape& shape) {
  const int64_t width = shape[1], channels = shape[2];
  for (int64_t y = 0; y < shape[0]; ++y) {
    float* row = image.data() + y * width * channels;
    for (int64_t left = 0, right = width - 1; left < right; ++left, --right)
      std::swap_ranges(row + left * channels, row + (left + 1) * channels, row + right * channels);
  }
}

void Shift(std::span<float> image, const Shape& shape, int64_t down, int64_t right) {
  const int64_t height = shape[0], row = shape[1] * shape[2];
  down = std::clamp(down, -height, height);
  const int64_t across = std::clamp(right * shape[2], -row, row);
  const int64_t kept = row - std::abs(across);
  // Rows are overwritten only after they have been moved: from the bottom when moving down, else from the top.
  for (int64_t i = 0; i < height; ++i) {
    const int64_t y = down > 0 ? height - 1 - i : i;
    float* to = image.data() + y * row;
    const int64_t source = y - down;
    if (source < 0 || source >= height) {
      std::fill_n(to, row, 0.0f);
      continue;
    }
    const float* from = image.data() + source * row;
    if (across >= 0) {
      std::memmove(to + across, from, static_cast<size_t>(kept) * sizeof(float));
      std::fill_n(to, across, 0.0f);
    } else {
      std::memmove(to, from - across, static_cast<size_t>(kept) * sizeof(float));
      std::fill_n(to + kept, -across, 0.0f);
    }
  }
}

}  // namespace muster::data
