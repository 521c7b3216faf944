#pragma once

#include <cstdint>

// Changes of colour that need a pixel's hue, on vectors of pixels (three floats each). The formulas of TensorFlow's
// kernels AdjustSaturation and AdjustHue, values outside 0 to 1 included.
namespace muster::data {

struct ColourSimd {
  // Saturation, which is at most 1 afterwards; a pixel without a positive value becomes grey.
  void (*saturate)(float* rgb, int64_t pixels, float factor);
  // "turns" is added to the hue; largest and smallest value of the pixel stay.
  void (*turn_hue)(float* rgb, int64_t pixels, float turns);
};

// For this CPU.
const ColourSimd& GetColourSimd();

}  // namespace muster::data
