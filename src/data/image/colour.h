#pragma once

#include <cstdint>
#include <span>

namespace muster::data {

// Changes of colour in place, on pixels of three floats (red, green, blue), with TensorFlow's formulas
// (tf.image.adjust_*). Nothing is clipped.

// Adds "delta" to every value.
void AdjustBrightness(std::span<float> rgb, float delta);
// Moves every channel away from its mean over the image (factor above 1) or towards it.
void AdjustContrast(std::span<float> rgb, float factor);
// Multiplies saturation in HSV by "factor"; the result is at most 1.
void AdjustSaturation(std::span<float> rgb, float factor);
// Adds "delta" to the hue in HSV, in turns.
void AdjustHue(std::span<float> rgb, float delta);

// In YIQ, where both are linear: turns the plane of colours by "delta_hue" radians and scales it by "saturation". One
// matrix, much cheaper than the two above.
void AdjustHueAndSaturationInYiq(std::span<float> rgb, float delta_hue, float saturation);

}  // namespace muster::data
