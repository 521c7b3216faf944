#pragma once

#include <vector>

#include "muster/tensor.h"
#include "plan/kernel.h"

// Runs single kernels of the CPU table in tests.
namespace muster::cpu {

struct RunOptions {
  int threads = 2;
  int64_t step = 0;
  bool use_wishes = false;  // let the kernel choose layouts; inputs are packed, outputs unpacked
  uint64_t seed = 0;
  std::string name = "test/op";
};

// Prepares and launches the CPU table's kernel and returns the outputs, row-major. The workspace and the outputs are
// filled with NaN before, so that what a kernel does not write shows; also in the padding of opaque forms.
std::vector<Tensor> RunKernel(OpKind kind, const Attrs& attrs, const std::vector<Tensor>& inputs,
                              const std::vector<TensorDesc>& outputs, const RunOptions& options = {});

// A float32 description.
TensorDesc F32(const Shape& shape);
// Reproducible values, uniform in [low, high).
Tensor Random(const Shape& shape, uint32_t seed, float low = -1, float high = 1);

// The values of a float32 tensor rounded to bfloat16, and those of a bfloat16 tensor as float32 (a float32 tensor stays
// as it is).
Tensor AsBFloat16(const Tensor& x);
Tensor AsFloat32(const Tensor& x);

// Fails where an element differs by more than tolerance * (1 + |expected|).
void ExpectNear(const Tensor& got, const Tensor& expected, double tolerance);
void ExpectEqualBits(const Tensor& a, const Tensor& b);

}  // namespace muster::cpu
