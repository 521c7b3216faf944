#include "base/random_stream.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random_transform.h"

namespace muster {
namespace {

const RandomStream kStream(7, 3, "tower_0/random");

template <typename T>
std::vector<T> Normals(const RandomStream& stream, int64_t step, int64_t first, size_t count) {
  std::vector<T> out(count);
  stream.FillNormal(step, first, std::span<T>(out));
  return out;
}

// Mean, variance, skewness and kurtosis.
template <typename T>
std::array<double, 4> Moments(const std::vector<T>& x) {
  double mean = 0, m2 = 0, m3 = 0, m4 = 0;
  for (T v : x) mean += v;
  mean /= static_cast<double>(x.size());
  for (T v : x) {
    const double d = v - mean;
    m2 += d * d, m3 += d * d * d, m4 += d * d * d * d;
  }
  const double n = static_cast<double>(x.size());
  m2 /= n, m3 /= n, m4 /= n;
  return {mean, m2, m3 / std::pow(m2, 1.5), m4 / (m2 * m2)};
}

TEST(RandomStream, ElementsDoNotDependOnHowTheTensorIsDividedUp) {
  const std::vector<float> whole = Normals<float>(kStream, 5, 0, 1000);
  for (int64_t first : {1, 63, 64, 65, 500}) {
    const std::vector<float> part = Normals<float>(kStream, 5, first, 333);
    for (size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], whole[static_cast<size_t>(first) + i]);
  }
  const std::vector<double> whole64 = Normals<double>(kStream, 5, 0, 300);
  const std::vector<double> part64 = Normals<double>(kStream, 5, 77, 100);
  for (size_t i = 0; i < part64.size(); ++i) ASSERT_EQ(part64[i], whole64[77 + i]);
}

TEST(RandomStream, UniformElementIsItsPhiloxWord) {
  std::vector<float> out(11);
  RandomStream(42, 0, "x").FillUniform(9, 0, std::span(out));
  const Philox philox(42, HashName("x", 1));
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], UniformFloat(philox(9, i / 4)[i % 4])) << i;
}

TEST(RandomStream, SeedsNamesAndStepsGiveDifferentNumbers) {
  std::set<float> seen;
  for (const RandomStream& stream : {RandomStream(1, 0, "a"), RandomStream(2, 0, "a"), RandomStream(1, 1, "a"),
                                     RandomStream(1, 0, "b"), RandomStream(1, 2, "a")})
    for (int64_t step : {0, 1}) {
      float value = 0;
      stream.FillUniform(step, 0, std::span(&value, 1));
      seen.insert(value);
    }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(RandomStream, UniformIsFlatOnItsInterval) {
  std::vector<float> x(100000);
  kStream.FillUniform(0, 0, std::span(x));
  std::vector<int> bins(10);
  for (float v : x) {
    ASSERT_GE(v, 0.0f);
    ASSERT_LT(v, 1.0f);
    ++bins[static_cast<size_t>(v * 10)];
  }
  for (int count : bins) EXPECT_NEAR(count, 10000, 400);  // about 4 standard deviations
}

TEST(RandomStream, IntegersCoverExactlyTheirRange) {
  std::vector<int32_t> x(1000);
  kStream.FillUniformInt(0, 0, -2, 3, std::span(x));
  EXPECT_EQ(std::set<int32_t>(x.begin(), x.end()), (std::set<int32_t>{-2, -1, 0, 1, 2}));
  std::vector<int64_t> y(1000);
  kStream.FillUniformInt(0, 0, int64_t{1} << 40, (int64_t{1} << 40) + 3, std::span(y));
  EXPECT_EQ(std::set<int64_t>(y.begin(), y.end()).size(), 3u);
  kStream.FillUniformInt(0, 0, INT64_MIN, INT64_MAX, std::span(y));
  EXPECT_GT(std::set<int64_t>(y.begin(), y.end()).size(), 990u);
}

TEST(RandomStream, NormalHasTheMomentsOfTheStandardNormal) {
  const auto check = [](const std::array<double, 4>& m) {
    EXPECT_NEAR(m[0], 0, 0.01);
    EXPECT_NEAR(m[1], 1, 0.015);
    EXPECT_NEAR(m[2], 0, 0.025);
    EXPECT_NEAR(m[3], 3, 0.05);
  };
  check(Moments(Normals<float>(kStream, 0, 0, 200000)));
  check(Moments(Normals<double>(kStream, 0, 0, 200000)));
}

TEST(RandomStream, TruncatedNormalStaysInsideAndHasTheRightVariance) {
  // Variance of the standard normal cut at 2: 1 - 4 phi(2) / erf(sqrt 2).
  const double variance = 1 - 4 * std::exp(-2.0) / std::sqrt(2 * std::numbers::pi) / std::erf(std::numbers::sqrt2);
  std::vector<float> x(200000);
  kStream.FillTruncatedNormal(0, 0, std::span(x));
  for (float v : x) ASSERT_LE(std::abs(v), 2.0f);
  const auto m = Moments(x);
  EXPECT_NEAR(m[0], 0, 0.01);
  EXPECT_NEAR(m[1], variance, 0.01);
  EXPECT_NEAR(m[2], 0, 0.02);
}

TEST(RandomTransform, QuantileInvertsTheDistributionFunction) {
  for (int i = -999; i < 1000; ++i) {
    const float t = static_cast<float>(i) / 1000;
    const double z = TruncatedNormalQuantile(t);
    EXPECT_NEAR(std::erf(z / std::numbers::sqrt2) / std::erf(std::numbers::sqrt2), t, 3e-7) << t;
  }
  for (uint64_t word : {uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0}, uint64_t{0x123456789ABCDEF0}}) {
    const double t = (static_cast<double>(word >> 11) + 0.5) * 0x1p-52 - 1;
    EXPECT_NEAR(std::erf(TruncatedNormal(word) / std::numbers::sqrt2), t * std::erf(std::numbers::sqrt2), 1e-15);
  }
}

TEST(RandomTransform, PolynomialsMatchTheLibrary) {
  for (uint32_t i = 1; i <= 1u << 24; i += 9973) {
    const float x = static_cast<float>(i) * 0x1p-24f;
    EXPECT_NEAR(LogUnit(x), std::log(x), 1.5e-7 * std::max(1.0f, std::abs(std::log(x)))) << x;
  }
  EXPECT_EQ(LogUnit(1.0f), 0.0f);
  for (uint32_t w = 0; w < 4000000000u; w += 77777777) {
    float pair[2];
    NormalPair(0x12345600, w, pair);
    const double quadrant = (w >> 30) * (std::numbers::pi / 2);
    const double a = quadrant + (static_cast<double>((w << 2) >> 8) * 0x1p-24 - 0.5) * std::numbers::pi / 2;
    const double r = std::hypot(pair[0], pair[1]);
    // Quadrants 1 and 3 are turned by a quarter, 2 and 3 by a half: uniform over the circle either way.
    EXPECT_NEAR(pair[0] / r, std::cos(a), 3e-7) << w;
    EXPECT_NEAR(pair[1] / r, std::sin(a), 3e-7) << w;
  }
}

}  // namespace
}  // namespace muster
