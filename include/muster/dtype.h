#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {

// Element types. Half-precision values are carried as their 16 bits; kernels convert.
enum class DType : uint8_t { kFloat32, kFloat64, kFloat16, kBFloat16, kInt32, kInt64, kUInt8, kBool };

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// Bytes of one element.
size_t SizeOf(DType dtype);
// TensorFlow's name, for example "float32" (DTypeName) and its number in DataType (TensorFlowDataType).
std::string_view DTypeName(DType dtype);
int TensorFlowDataType(DType dtype);
bool IsFloating(DType dtype);
// Whether it is float16 or bfloat16.
bool IsHalf(DType dtype);

// DTypeOf<float>() == DType::kFloat32, and so on.
template <typename T>
constexpr DType DTypeOf();
// clang-format off
template <> constexpr DType DTypeOf<float>() { return DType::kFloat32; }
template <> constexpr DType DTypeOf<double>() { return DType::kFloat64; }
template <> constexpr DType DTypeOf<Float16>() { return DType::kFloat16; }
template <> constexpr DType DTypeOf<BFloat16>() { return DType::kBFloat16; }
template <> constexpr DType DTypeOf<int32_t>() { return DType::kInt32; }
template <> constexpr DType DTypeOf<int64_t>() { return DType::kInt64; }
template <> constexpr DType DTypeOf<uint8_t>() { return DType::kUInt8; }
template <> constexpr DType DTypeOf<bool>() { return DType::kBool; }
// clang-format on

// Conversions round to nearest even, as TensorFlow's Cast does.
float ToFloat(Float16 value);
float ToFloat(BFloat16 value);
Float16 ToFloat16(float value);
BFloat16 ToBFloat16(float value);

}  // namespace muster
