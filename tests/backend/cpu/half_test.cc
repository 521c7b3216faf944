// Half precision on the CPU: conversions to the bit, and operations in float32 between them.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "backend/cpu/half_simd.h"
#include "muster/dtype.h"

namespace muster {
namespace {

uint32_t Bits(float x) { return std::bit_cast<uint32_t>(x); }

// NaNs keep being NaNs; which one is the hardware's choice.
bool SameFloat(float a, float b) { return (std::isnan(a) && std::isnan(b)) || Bits(a) == Bits(b); }
bool IsNan16(uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const uint16_t exponent = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  return (bits & exponent) == exponent && (bits & ((1 << mantissa_bits) - 1)) != 0;
}

TEST(HalfSimd, WidensEveryValueAsTheScalarFormDoes) {
  std::vector<uint16_t> all(65536 + 3);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(all.size());
  cpu::GetHalfSimd().widen_float16(all.data(), wide.data(), static_cast<int64_t>(all.size()));
  for (size_t i = 0; i < all.size(); ++i) ASSERT_TRUE(SameFloat(wide[i], ToFloat(Float16{all[i]}))) << i;
  cpu::GetHalfSimd().widen_bfloat16(all.data(), wide.data(), static_cast<int64_t>(all.size()));
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(Bits(wide[i]), Bits(ToFloat(BFloat16{all[i]}))) << i;
}

// Random bits, and everything next to the middle between two halves.
std::vector<float> Trying() {
  std::vector<float> values;
  std::mt19937 random(5);
  for (int i = 0; i < 200000; ++i) values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (uint32_t high = 0; high < 65536; high += 7)
    for (uint32_t low : {0u, 1u, 0x0FFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  return values;
}

TEST(HalfSimd, RoundsToNearestEvenAsTheScalarFormDoes) {
  const std::vector<float> values = Trying();
  std::vector<uint16_t> half(values.size());
  cpu::GetHalfSimd().narrow_float16(values.data(), half.data(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) ASSERT_TRUE(IsNan16(half[i], 5)) << values[i];
    else ASSERT_EQ(half[i], ToFloat16(values[i]).bits) << values[i];
  }
  cpu::GetHalfSimd().narrow_bfloat16(values.data(), half.data(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(half[i], ToBFloat16(values[i]).bits) << values[i];
}

}  // namespace
}  // namespace muster
