#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/image/image.h"

namespace muster::data {

enum class ResizeMethod { kNearest, kBilinear, kBicubic, kArea };

// As TensorFlow's resize operations of those names take it. Both flags false is TensorFlow 1's rule, in which output
// pixel i lies at i * in / out. kArea takes no notice of half_pixel_centers.
struct ResizeOptions {
  ResizeMethod method = ResizeMethod::kBilinear;
  bool align_corners = false;
  bool half_pixel_centers = false;
};

// What each output pixel of one axis is made of: `count` neighbouring input pixels from `first` on, with weights. Every
// method above is such a sum along rows and the same along columns.
struct AxisTaps {
  struct Pixel {
    int first = 0;
    int count = 0;
    size_t weights = 0;  // where they begin in `weights` below
  };
  std::vector<Pixel> pixels;
  std::vector<float> weights;
};

// Of output pixels begin .. begin + count - 1 out of "out", from "in" pixels.
AxisTaps MakeTaps(const ResizeOptions& options, int in, int out, int begin, int count);

// Resizes "image" (bytes) to "full" size and writes the part of that which "window" names (all of it: {0, 0, height,
// width}) as height x width x 3 floats from 0 to 255 into "out". Only that part is computed. With "mirrored" the part
// is turned left to right. Values agree with TensorFlow's to 1e-6 of the largest; bicubic ones may lie below 0 or above
// 255 there too.
void Resize(const RgbImage& image, const ResizeOptions& options, const ImageSize& full, const CropWindow& window,
            bool mirrored, std::span<float> out);

}  // namespace muster::data
