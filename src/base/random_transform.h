#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace muster {

// Random words to normal numbers. The float versions are branch-free sequences of exactly rounded operations, so that
// they vectorise and give equal bits at any vector width; the double ones call the C library.

// ln(x) for 2^-24 <= x <= 1, to about 1 ulp: x = m 2^e with sqrt(1/2) <= m < sqrt(2), ln(m) = 2 atanh((m-1)/(m+1)).
inline float LogUnit(float x) {
  constexpr uint32_t kSqrtHalf = 0x3F3504F3;
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const int32_t e = static_cast<int32_t>(bits - kSqrtHalf) >> 23;
  const float m = std::bit_cast<float>(bits - (static_cast<uint32_t>(e) << 23));
  const float s = (m - 1) / (m + 1), s2 = s * s;
  const float series = s2 * (2.0f / 3 + s2 * (2.0f / 5 + s2 * (2.0f / 7 + s2 * (2.0f / 9))));
  return static_cast<float>(e) * std::numbers::ln2_v<float> + (2 * s + s * series);
}

// r cos(a) and r sin(a) with r = sqrt(-2 ln u): u in (0, 1] from the high 24 bits of the first word; the angle a is
// uniform: the high 2 bits of the second word choose a quadrant, the next 24 a point in it, seen from its middle.
inline void NormalPair(uint32_t radius_word, uint32_t angle_word, float* out) {
  const float u = static_cast<float>(static_cast<int32_t>((radius_word >> 8) + 1)) * 0x1p-24f;
  const float r = std::sqrt(-2 * LogUnit(u));
  const int32_t point = static_cast<int32_t>((angle_word << 2) >> 8) - (1 << 23);
  const float a = static_cast<float>(point) * (0x1p-24f * std::numbers::pi_v<float> / 2), a2 = a * a;
  // Taylor series: |a| <= pi/4.
  const float sine = a * (1 + a2 * (-1.0f / 6 + a2 * (1.0f / 120 + a2 * (-1.0f / 5040 + a2 * (1.0f / 362880)))));
  const float cosine =
      1 + a2 * (-0.5f + a2 * (1.0f / 24 + a2 * (-1.0f / 720 + a2 * (1.0f / 40320 + a2 * (-1.0f / 3628800)))));
  const bool swap = (angle_word >> 30 & 1) != 0, negate = angle_word >> 31 != 0;
  const float signed_r = negate ? -r : r;
  out[0] = signed_r * (swap ? -sine : cosine);
  out[1] = signed_r * (swap ? cosine : sine);
}

inline void NormalPair(uint64_t radius_word, uint64_t angle_word, double* out) {
  const double u = static_cast<double>((radius_word >> 11) + 1) * 0x1p-53;
  const double a = static_cast<double>(angle_word >> 11) * (0x1p-53 * 2 * std::numbers::pi);
  const double r = std::sqrt(-2 * std::log(u));
  out[0] = r * std::cos(a);
  out[1] = r * std::sin(a);
}

// The z with erf(z / sqrt 2) = t erf(sqrt 2), for -1 < t < 1: a rational function of v = 1 - t^2, fitted to a relative
// error of 7e-8. All its coefficients are positive, so nothing cancels.
template <typename T>
T TruncatedNormalQuantile(T t) {
  const T v = (1 - t) * (1 + t);
  const T p = T(1.999999855) + v * (T(24.25634915) + v * (T(74.49288321) + v * (T(54.24828971) + v * T(4.385666472))));
  const T q = T(1) + v * (T(13.83799299) + v * (T(52.42684846) + v * (T(55.25843857) + v * T(10.70816242))));
  return t * (p / q);
}

// t is the middle of one of 2^24 (2^53) equal pieces of (-1, 1).
inline float TruncatedNormal(uint32_t word) {
  const int32_t odd = static_cast<int32_t>((word >> 8) * 2 + 1) - (1 << 24);
  return TruncatedNormalQuantile(static_cast<float>(odd) * 0x1p-24f);
}

inline double TruncatedNormal(uint64_t word) {
  const int64_t odd = static_cast<int64_t>((word >> 11) * 2 + 1) - (int64_t{1} << 53);
  const double t = static_cast<double>(odd) * 0x1p-53;
  double z = TruncatedNormalQuantile(t);
  const double target = t * std::erf(std::numbers::sqrt2);
  const double slope = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  for (int i = 0; i < 2; ++i)  // Newton's steps: 7e-8 -> 1e-15
    z -= (std::erf(z / std::numbers::sqrt2) - target) / (slope * std::exp(-z * z / 2));
  return z;
}

}  // namespace muster
