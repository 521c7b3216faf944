#include "data/image/resize.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace muster::data {
namespace {

// Columns first: the sum of some input rows with weights, as one row of floats. Compilers make vector code of these
// loops.
void SumRows(const RgbImage& image, const AxisTaps& taps, const AxisTaps::Pixel& pixel, int first, int last,
             float* sum) {
  const float* weights = taps.weights.data() + pixel.weights;
  const int begin = first * 3, end = last * 3;
  if (pixel.count == 2) {
    const uint8_t* a = image.row(pixel.first);
    const uint8_t* b = image.row(pixel.first + 1);
    const float of_a = weights[0], of_b = weights[1];
    for (int i = begin; i < end; ++i) sum[i] = of_a * static_cast<float>(a[i]) + of_b * static_cast<float>(b[i]);
    return;
  }
  for (int tap = 0; tap < pixel.count; ++tap) {
    const uint8_t* row = image.row(pixel.first + tap);
    const float weight = weights[tap];
    if (tap == 0) {
      for (int i = begin; i < end; ++i) sum[i] = weight * static_cast<float>(row[i]);
    } else {
      for (int i = begin; i < end; ++i) sum[i] += weight * static_cast<float>(row[i]);
    }
  }
}

// Four floats at a time, of which the fourth is written over by the next pixel.
struct Quad {
  float v[4];
  static Quad Load(const float* from) {
    Quad quad;
    std::memcpy(quad.v, from, sizeof quad.v);
    return quad;
  }
};

void WritePixel(const float* row, const AxisTaps& taps, const AxisTaps::Pixel& pixel, float* to) {
  const float* weights = taps.weights.data() + pixel.weights;
  const float* from = row + pixel.first * 3;
  Quad sum{};
  for (int tap = 0; tap < pixel.count; ++tap) {
    const Quad quad = Quad::Load(from + tap * 3);
    for (int c = 0; c < 4; ++c) sum.v[c] += weights[tap] * quad.v[c];
  }
  std::memcpy(to, sum.v, sizeof sum.v);
}

// Then along the row. "out" has room for one float more than the row.
void SumColumns(const float* row, const AxisTaps& taps, bool mirrored, float* out) {
  const size_t width = taps.pixels.size();
  if (!mirrored) {
    for (size_t x = 0; x < width; ++x) WritePixel(row, taps, taps.pixels[x], out + 3 * x);
    return;
  }
  for (size_t x = 0; x < width; ++x) WritePixel(row, taps, taps.pixels[width - 1 - x], out + 3 * x);
}

// Input columns that the taps touch: first, and one behind the last.
std::pair<int, int> Extent(const AxisTaps& taps) {
  int first = taps.pixels.front().first, last = 0;
  for (const AxisTaps::Pixel& pixel : taps.pixels) {
    first = std::min(first, pixel.first);
    last = std::max(last, pixel.first + pixel.count);
  }
  return {first, last};
}

}  // namespace

void Resize(const RgbImage& image, const ResizeOptions& options, const ImageSize& full, const CropWindow& window,
            bool mirrored, std::span<float> out) {
  MUSTER_CHECK(window.IsInside(full) &&
               out.size() == static_cast<size_t>(window.height) * static_cast<size_t>(window.width) * 3);
  const AxisTaps rows = MakeTaps(options, image.height, full.height, window.y, window.height);
  const AxisTaps columns = MakeTaps(options, image.width, full.width, window.x, window.width);
  const auto [first, last] = Extent(columns);
  const size_t row_floats = static_cast<size_t>(window.width) * 3;
  // One float more, as pixels are read and written by fours; rows are kept apart from "out" for the same reason.
  thread_local std::vector<float> sum, line;
  sum.resize(static_cast<size_t>(image.width) * 3 + 1);
  line.resize(row_floats + 1);
  for (size_t y = 0; y < rows.pixels.size(); ++y) {
    SumRows(image, rows, rows.pixels[y], first, last, sum.data());
    SumColumns(sum.data(), columns, mirrored, line.data());
    std::memcpy(out.data() + y * row_floats, line.data(), row_floats * sizeof(float));
  }
}

}  // namespace muster::data
