// Where output pixels lie in the input, and what they are made of (TensorFlow's image_resizer_state.h and
// resize_*_op.cc say the same in their own way). All in float, as there: a difference in rounding would pick another
// pixel.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "data/image/resize.h"

namespace muster::data {
namespace {

float Scale(const ResizeOptions& options, int in, int out) {
  if (options.align_corners && out > 1) return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  return static_cast<float>(in) / static_cast<float>(out);
}

// The input position of an output pixel's centre.
float Position(const ResizeOptions& options, int x, float scale) {
  const auto at = static_cast<float>(x);
  return options.half_pixel_centers ? (at + 0.5f) * scale - 0.5f : at * scale;
}

// Collects the taps of one pixel after the other. Positions outside the image count for the pixel at its edge.
class Builder {
 public:
  Builder(int in, AxisTaps* taps) : in_(in), taps_(*taps) {}
  void Begin() { taps_.pixels.push_back({0, 0, taps_.weights.size()}); }
  void Add(int position, float weight) {
    AxisTaps::Pixel& pixel = taps_.pixels.back();
    position = std::clamp(position, 0, in_ - 1);
    if (pixel.count == 0) pixel.first = position;
    const int at = position - pixel.first;
    MUSTER_CHECK(at >= 0 && at <= pixel.count);
    if (at == pixel.count) {
      taps_.weights.push_back(0);
      ++pixel.count;
    }
    taps_.weights[pixel.weights + static_cast<size_t>(at)] += weight;
  }

 private:
  int in_;
  AxisTaps& taps_;
};

// Half-pixel centres are those of the pixel, not of the grid, so the position itself is taken.
void Nearest(const ResizeOptions& options, int x, float scale, Builder* builder) {
  const float position =
      options.half_pixel_centers ? (static_cast<float>(x) + 0.5f) * scale : static_cast<float>(x) * scale;
  builder->Add(static_cast<int>(options.align_corners ? std::round(position) : std::floor(position)), 1);
}

void Bilinear(const ResizeOptions& options, int x, float scale, int in, Builder* builder) {
  const float position = Position(options, x, scale), floor = std::floor(position);
  const int lower = std::max(static_cast<int>(floor), 0),
            upper = std::min(static_cast<int>(std::ceil(position)), in - 1);
  const float part = position - floor;
  if (lower >= upper) {  // both at an edge, or exactly on a pixel
    builder->Add(lower, 1);
    return;
  }
  builder->Add(lower, 1 - part);
  builder->Add(upper, part);
}

// Keys' cubic kernel, read off a table of 1024 steps as TensorFlow does.
constexpr int kTableSize = 1024;

struct Cubic {
  float a;
  float Near(float x) const { return ((a + 2) * x - (a + 3)) * x * x + 1; }
  float Far(float x) const { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }
};

void Bicubic(const ResizeOptions& options, int x, float scale, int in, Builder* builder) {
  const Cubic kernel{options.half_pixel_centers ? -0.5f : -0.75f};
  const float position = Position(options, x, scale);
  const auto base = static_cast<int64_t>(std::floor(position));
  const auto step = static_cast<int>(std::lrint((position - static_cast<float>(base)) * kTableSize));
  const float near = static_cast<float>(step) / kTableSize,
              near_right = static_cast<float>(kTableSize - step) / kTableSize;
  const float weights[4] = {kernel.Far(near + 1), kernel.Near(near), kernel.Near(near_right),
                            kernel.Far(near_right + 1)};
  float sum = 0;
  bool inside[4];
  for (int i = 0; i < 4; ++i) {
    const int64_t at = base - 1 + i;
    inside[i] = !options.half_pixel_centers || (at >= 0 && at < in);
    if (inside[i]) sum += weights[i];
  }
  // With half-pixel centres, pixels outside the image do not count and the others take their weight.
  const bool renormalises = options.half_pixel_centers && std::abs(sum) >= 1000 * 1.17549435e-38f;
  for (int i = 0; i < 4; ++i)
    if (inside[i])
      builder->Add(static_cast<int>(std::clamp<int64_t>(base - 1 + i, -1, in)),
                   renormalises ? weights[i] / sum : weights[i]);
}

// Each input pixel counts by how much of it the output pixel covers.
void Area(int x, float scale, Builder* builder) {
  const float begin = static_cast<float>(x) * scale, end = static_cast<float>(x + 1) * scale;
  const int first = static_cast<int>(std::floor(begin)), last = static_cast<int>(std::ceil(end));
  for (int i = first; i < last; ++i) {
    const auto at = static_cast<float>(i);
    float covered = 1;
    if (at < begin) covered = at + 1 > end ? scale : at + 1 - begin;
    else if (at + 1 > end) covered = end - at;
    builder->Add(i, covered / scale);
  }
}

}  // namespace

AxisTaps MakeTaps(const ResizeOptions& options, int in, int out, int begin, int count) {
  MUSTER_CHECK(in > 0 && out > 0 && begin >= 0 && count >= 0 && begin <= out - count);
  const float scale = Scale(options, in, out);
  AxisTaps taps;
  taps.pixels.reserve(static_cast<size_t>(count));
  Builder builder(in, &taps);
  for (int x = begin; x < begin + count; ++x) {
    builder.Begin();
    switch (options.method) {
      case ResizeMethod::kNearest: Nearest(options, x, scale, &builder); break;
      case ResizeMethod::kBilinear: Bilinear(options, x, scale, in, &builder); break;
      case ResizeMethod::kBicubic: Bicubic(options, x, scale, in, &builder); break;
      case ResizeMethod::kArea: Area(x, scale, &builder); break;
    }
  }
  return taps;
}

}  // namespace muster::data
