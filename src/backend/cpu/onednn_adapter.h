#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "muster/layout.h"

// The only door to oneDNN: no other file includes its headers or knows its version. A library failure becomes
// muster::Error here. Everything is thread-safe but Primitive::Run, which belongs to one driver thread at a time.
namespace muster::onednn {

// One convolution over NHWC activations. The filter is logically HWIO, [kernel_h, kernel_w, in_c / groups, out_c].
struct ConvProblem {
  DType dtype = DType::kFloat32;         // of the activations
  DType filter_dtype = DType::kFloat32;  // of the filter or its gradient
  int64_t batch = 0, in_h = 0, in_w = 0, in_c = 0, out_h = 0, out_w = 0, out_c = 0;
  int64_t kernel_h = 0, kernel_w = 0, groups = 1;
  std::array<int64_t, 2> strides{1, 1}, dilations{1, 1};  // height, width; a dilation of 1 is a dense kernel
  std::array<int64_t, 4> paddings{};                      // top, bottom, left, right
};

enum class ConvKind { kForward, kBackwardData, kBackwardFilter };

// What rides along: a bias (or its gradient, for kBackwardFilter), and a ReLU behind the forward pass.
struct ConvExtras {
  bool bias = false;
  bool relu = false;
};

// One matrix product [m,k] x [k,n] of row-major matrices; a transposed one lies as [k,m] or [n,k].
struct MatMulProblem {
  DType dtype = DType::kFloat32;
  int64_t m = 0, k = 0, n = 0;
  bool transpose_a = false, transpose_b = false;
  bool bias = false, relu = false;  // bias [n]
  bool float32_result = false;      // whatever the dtype
};

// A compiled computation. Its addresses go in the order that its maker names.
class Primitive {
 public:
  Primitive();
  Primitive(Primitive&&) noexcept;
  Primitive& operator=(Primitive&&) noexcept;
  ~Primitive();

  // Binds the addresses and computes. "scratchpad" has scratchpad_bytes() bytes, aligned to 64. Muster's side allocates
  // nothing.
  void Run(std::span<void* const> addresses, void* scratchpad);
  int64_t scratchpad_bytes() const;

 private:
  friend struct Maker;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The filter layout that a convolution likes best ("choice"), and the library's name of the implementation it then
// uses.
struct FilterChoice {
  Layout layout;
  std::string implementation;
};
FilterChoice ChooseFilter(ConvKind kind, const ConvProblem& problem, const ConvExtras& extras, int threads);
// The implementation that takes this filter layout.
std::string ImplementationFor(ConvKind kind, const ConvProblem& problem, const ConvExtras& extras, const Layout& filter,
                              int threads);

// Addresses: forward        x, filter, [bias,] y
//            backward data  dy, filter, dx
//            backward filter x, dy, dfilter[, dbias]
Primitive MakeConv(ConvKind kind, const ConvProblem& problem, const ConvExtras& extras, const Layout& filter,
                   int threads);

// Addresses: a, b, [bias,] c.
Primitive MakeMatMul(const MatMulProblem& problem, int threads);

// Whether this layout is one of oneDNN's, as made by ChooseFilter.
bool IsOneDnn(const Layout& layout);

// Copies a tensor from one layout to another, one of which at least is not plain. Addresses: from, to.
Primitive MakeReorder(const Layout& from, const Layout& to, int threads);

// Whether this CPU computes with bfloat16 (AVX512-BF16, AMX), so that convolutions and products of it are there and
// worth while.
bool HasBFloat16();

// "3.2.0", for `muster devices` and results.
std::string Version();

}  // namespace muster::onednn
