#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Element-wise loops over contiguous arrays of T, float or BFloat16; arithmetic is single precision. "out" may be one
// of the inputs.
namespace muster::cpu {

enum class BinaryOp {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kSquaredDifference,
  kReluGrad,
  kRelu6Grad,
  kSigmoidGrad,
  kTanhGrad,
  kSoftplusGrad
};
inline constexpr size_t kNumBinaryOps = 12;

enum class UnaryOp {
  kNeg,
  kSquare,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kAbs,
  kSign,
  kExp,
  kLog,
  kFloor,
  kCeil,
  kRelu,
  kRelu6,
  kSigmoid,
  kTanh,
  kSoftplus
};
inline constexpr size_t kNumUnaryOps = 16;

template <typename T>
using BinaryFn = void (*)(const T* a, const T* b, T* out, int64_t n);
template <typename T>
using UnaryFn = void (*)(const T* x, T* out, int64_t n);

// The three ways in which a run of elements can meet: both advance, b is one value, a is one value.
template <typename T>
struct BinaryLoops {
  BinaryFn<T> both, b_scalar, a_scalar;
};

template <typename T>
struct ElementwiseSimd {
  std::array<BinaryLoops<T>, kNumBinaryOps> binary;
  std::array<UnaryFn<T>, kNumUnaryOps> unary;
  // out = sum of inputs[0..count) from element "begin" to "end".
  void (*add_n)(void* const* inputs, int64_t count, T* out, int64_t begin, int64_t end);

  const BinaryLoops<T>& operator[](BinaryOp op) const { return binary[static_cast<size_t>(op)]; }
  UnaryFn<T> operator[](UnaryOp op) const { return unary[static_cast<size_t>(op)]; }
};

// For this CPU.
template <typename T>
const ElementwiseSimd<T>& GetElementwiseSimd();

}  // namespace muster::cpu
