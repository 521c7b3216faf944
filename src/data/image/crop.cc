#include "data/image/crop.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace muster::data {
namespace {

struct Pixels {
  float y0, x0, y1, x1;
  float area() const { return std::max(y1 - y0, 0.0f) * std::max(x1 - x0, 0.0f); }
};

// In pixels, and cut at the edges.
std::vector<Pixels> ObjectsIn(const ImageSize& size, std::span<const Box> boxes) {
  const auto height = static_cast<float>(size.height), width = static_cast<float>(size.width);
  std::vector<Pixels> objects;
  for (const Box& box : boxes) {
    const auto within = [](float share) { return share > 0 ? std::min(share, 1.0f) : 0.0f; };  // NaN becomes 0
    const Pixels object{within(box.ymin) * height, within(box.xmin) * width, within(box.ymax) * height,
                        within(box.xmax) * width};
    if (object.area() > 0) objects.push_back(object);
  }
  if (objects.empty()) objects.push_back({0, 0, height, width});
  return objects;
}

bool CoversEnough(const CropWindow& window, const std::vector<Pixels>& objects, float least) {
  const auto y0 = static_cast<float>(window.y), x0 = static_cast<float>(window.x);
  const float y1 = y0 + static_cast<float>(window.height), x1 = x0 + static_cast<float>(window.width);
  return std::any_of(objects.begin(), objects.end(), [&](const Pixels& object) {
    const Pixels both{std::max(y0, object.y0), std::max(x0, object.x0), std::min(y1, object.y1),
                      std::min(x1, object.x1)};
    return both.area() / object.area() >= least;
  });
}

// A window of some size, not placed yet. False: none fits this aspect ratio.
bool DrawSize(const ImageSize& size, const RandomCropOptions& options, RandomNumbers* random, CropWindow* window) {
  const float aspect = random->Uniform(options.min_aspect, options.max_aspect);
  const float area = static_cast<float>(size.height) * static_cast<float>(size.width);
  const float least = options.min_area * area, most = options.max_area * area;
  const auto height_of = [&](float of_area) { return static_cast<int>(std::lrint(std::sqrt(of_area / aspect))); };
  int low = height_of(least), high = height_of(most);
  // The width that belongs to the height must not exceed the image's.
  while (high > 0 && static_cast<int>(std::lrint(static_cast<float>(high) * aspect)) > size.width) --high;
  high = std::min(high, size.height);
  low = std::min(low, high);
  const int height = low < high ? random->UniformInt(low, high + 1) : low;
  const int width = static_cast<int>(std::lrint(static_cast<float>(height) * aspect));
  const float drawn = static_cast<float>(height) * static_cast<float>(width);
  if (width < 1 || width > size.width || drawn < least || drawn > most) return false;
  window->height = height;
  window->width = width;
  return true;
}

}  // namespace

CropWindow DrawCrop(const ImageSize& size, std::span<const Box> boxes, const RandomCropOptions& options,
                    RandomNumbers* random) {
  const std::vector<Pixels> objects = ObjectsIn(size, boxes);
  for (int attempt = 0; attempt < options.max_attempts; ++attempt) {
    CropWindow window;
    if (!DrawSize(size, options, random, &window)) continue;
    window.y = random->UniformInt(0, size.height - window.height + 1);
    window.x = random->UniformInt(0, size.width - window.width + 1);
    if (CoversEnough(window, objects, options.min_object_covered)) return window;
  }
  return {0, 0, size.height, size.width};
}

}  // namespace muster::data
