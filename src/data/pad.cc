#include "data/pad.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster::data {
namespace {

class Padded : public DatasetDecorator {
 public:
  Padded(std::unique_ptr<Dataset> inner, int64_t size)
      : DatasetDecorator(std::move(inner)), shape_{size, size, DatasetDecorator::inner().image_shape()[2]} {}
  const Shape& image_shape() const override { return shape_; }

  int32_t Get(int64_t index, uint64_t epoch, std::span<float> image) const override {
    const Shape& small = inner().image_shape();
    const auto elements = static_cast<size_t>(small.num_elements());
    const int32_t label = inner().Get(index, epoch, image.first(elements));
    const auto row = static_cast<size_t>(small[1] * small[2]), wide_row = static_cast<size_t>(shape_[1] * shape_[2]);
    const auto top = static_cast<size_t>((shape_[0] - small[0]) / 2),
               left = static_cast<size_t>((shape_[1] - small[1]) / 2 * small[2]);
    // From the last row on, so that none is overwritten before it has moved.
    for (auto y = static_cast<size_t>(small[0]); y-- > 0;) {
      const auto from = image.begin() + static_cast<std::ptrdiff_t>(y * row),
                 to = image.begin() + static_cast<std::ptrdiff_t>((top + y) * wide_row + left);
      std::copy_backward(from, from + static_cast<std::ptrdiff_t>(row), to + static_cast<std::ptrdiff_t>(row));
    }
    for (size_t y = 0; y < static_cast<size_t>(shape_[0]); ++y) {
      const std::span<float> whole = image.subspan(y * wide_row, wide_row);
      const bool outside = y < top || y >= top + static_cast<size_t>(small[0]);
      std::ranges::fill(outside ? whole : whole.first(left), 0.0f);
      if (!outside) std::ranges::fill(whole.subspan(left + row), 0.0f);
    }
    return label;
  }

 private:
  Shape shape_;
};

}  // namespace

std::unique_ptr<Dataset> Pad(std::unique_ptr<Dataset> inner, int64_t size) {
  const Shape& shape = inner->image_shape();
  if (shape[0] > size || shape[1] > size)
    throw InvalidArgument(fmt::format("--pad_to={}: the images have {}x{} pixels; at least {} was expected", size,
                                      shape[0], shape[1], std::max(shape[0], shape[1])));
  if (shape[0] == size && shape[1] == size) return inner;
  return std::make_unique<Padded>(std::move(inner), size);
}

}  // namespace muster::data
