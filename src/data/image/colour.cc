#include "data/image/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/image/colour_simd.h"

namespace muster::data {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

// Row i gives Y, I and Q: the values of TensorFlow's rgb_to_yiq.
constexpr Matrix kToYiq = {
    {{0.299, 0.587, 0.114}, {0.59590059, -0.27455667, -0.32134392}, {0.2115, -0.52273617, 0.31119955}}};

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

// Cramer's rule.
Matrix Inverse(const Matrix& m) {
  const auto minor = [&](size_t i, size_t j) {
    const size_t r = (i + 1) % 3, s = (i + 2) % 3, t = (j + 1) % 3, u = (j + 2) % 3;
    return m[r][t] * m[s][u] - m[r][u] * m[s][t];
  };
  const double determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
  Matrix inverse{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) inverse[j][i] = minor(i, j) / determinant;
  return inverse;
}

struct Triple {
  float v[3];
};

template <typename Change>
void ForEachPixel(std::span<float> rgb, Change change) {
  for (size_t i = 0; i + 3 <= rgb.size(); i += 3) {
    const Triple changed = change(Triple{rgb[i], rgb[i + 1], rgb[i + 2]});
    std::copy_n(changed.v, 3, rgb.data() + i);
  }
}

}  // namespace

void AdjustBrightness(std::span<float> rgb, float delta) {
  for (float& value : rgb) value += delta;
}

void AdjustContrast(std::span<float> rgb, float factor) {
  const size_t pixels = rgb.size() / 3;
  if (pixels == 0) return;
  double sums[3] = {0, 0, 0};
  for (size_t i = 0; i < pixels; ++i)
    for (size_t c = 0; c < 3; ++c) sums[c] += rgb[3 * i + c];
  float shift[3];  // (x - mean) * factor + mean = x * factor + shift
  for (size_t c = 0; c < 3; ++c) shift[c] = static_cast<float>(sums[c] / static_cast<double>(pixels)) * (1 - factor);
  for (size_t i = 0; i < pixels; ++i)
    for (size_t c = 0; c < 3; ++c) rgb[3 * i + c] = rgb[3 * i + c] * factor + shift[c];
}

void AdjustSaturation(std::span<float> rgb, float factor) {
  GetColourSimd().saturate(rgb.data(), static_cast<int64_t>(rgb.size() / 3), factor);
}

void AdjustHue(std::span<float> rgb, float delta) {
  GetColourSimd().turn_hue(rgb.data(), static_cast<int64_t>(rgb.size() / 3), delta);
}

void AdjustHueAndSaturationInYiq(std::span<float> rgb, float delta_hue, float saturation) {
  static const Matrix from_yiq = Inverse(kToYiq);
  const double cos = std::cos(delta_hue) * saturation, sin = std::sin(delta_hue) * saturation;
  const Matrix turn = {{{1, 0, 0}, {0, cos, -sin}, {0, sin, cos}}};
  const Matrix all = Product(from_yiq, Product(turn, kToYiq));
  float m[3][3];
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) m[i][j] = static_cast<float>(all[i][j]);
  ForEachPixel(rgb, [&m](const Triple& p) {
    Triple out;
    for (int i = 0; i < 3; ++i) out.v[i] = m[i][0] * p.v[0] + m[i][1] * p.v[1] + m[i][2] * p.v[2];
    return out;
  });
}

}  // namespace muster::data
