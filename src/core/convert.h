#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "muster/dtype.h"

namespace muster {

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// A floating-point number as an integer: towards zero; beyond the range the nearest end, NaN 0 (C++ leaves these open).
template <typename To, typename From>
To Truncate(From x) {
  if (std::isnan(x)) return 0;
  // The ends as From: the upper one may round up to 2^n, which is already too large.
  if (x >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  if (x <= static_cast<From>(std::numeric_limits<To>::lowest())) return std::numeric_limits<To>::lowest();
  return static_cast<To>(x);
}

// One element from one type to another: TensorFlow's Cast.
template <typename To, typename From>
To Convert(From x) {
  if constexpr (std::is_same_v<To, From>) return x;
  else if constexpr (kIsHalf<From>) return Convert<To>(ToFloat(x));
  else if constexpr (std::is_same_v<To, Float16>) return ToFloat16(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, BFloat16>) return ToBFloat16(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, bool>) return x != 0;
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) return Truncate<To>(x);
  else return static_cast<To>(x);
}

// Calls f with a value of the dtype's C++ type.
template <typename F>
auto ByDType(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat32: return f(float{});
    case DType::kFloat64: return f(double{});
    case DType::kFloat16: return f(Float16{});
    case DType::kBFloat16: return f(BFloat16{});
    case DType::kInt32: return f(int32_t{});
    case DType::kInt64: return f(int64_t{});
    case DType::kUInt8: return f(uint8_t{});
    case DType::kBool: return f(bool{});
  }
  MUSTER_CHECK(false);
}

// A constant attribute as the bits of an element, for kernels that only move elements.
template <typename Word>
Word ElementBits(DType dtype, double value) {
  return ByDType(dtype, [&](auto type) {
    const auto element = Convert<decltype(type)>(value);
    Word bits{};
    std::memcpy(&bits, &element, std::min(sizeof bits, sizeof element));
    return bits;
  });
}

}  // namespace muster
