#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Element-wise loops over contiguous float arrays. "out" may be one of the inputs.
namespace muster::cpu {

enum class BinaryOp { kAdd, kSub, kMul, kDiv, kMaximum, kMinimum, kSquaredDifference,
                      kReluGrad, kRelu6Grad, kSigmoidGrad, kTanhGrad, kSoftplusGrad };
inline constexpr size_t kNumBinaryOps = 12;

enum class UnaryOp { kNeg, kSquare, kSqrt, kRsqrt, kReciprocal, kAbs, kSign, kExp, kLog, kFloor, kCeil,
                     kRelu, kRelu6, kSigmoid, kTanh, kSoftplus };
inline constexpr size_t kNumUnaryOps = 16;

using BinaryFn = void (*)(const float* a, const float* b, float* out, int64_t n);
using UnaryFn = void (*)(const float* x, float* out, int64_t n);

// The three ways in which a run of elements can meet: both advance, b is one value, a is one value.
struct BinaryLoops {
  BinaryFn both, b_scalar, a_scalar;
};

struct ElementwiseSimd {
  std::array<BinaryLoops, kNumBinaryOps> binary;
  std::array<UnaryFn, kNumUnaryOps> unary;
  // out = sum of inputs[0..count) from element "begin" to "end".
  void (*add_n)(void* const* inputs, int64_t count, float* out, int64_t begin, int64_t end);

  const BinaryLoops& operator[](BinaryOp op) const { return binary[static_cast<size_t>(op)]; }
  UnaryFn operator[](UnaryOp op) const { return unary[static_cast<size_t>(op)]; }
};

// For this CPU.
const ElementwiseSimd& GetElementwiseSimd();

}  // namespace muster::cpu
