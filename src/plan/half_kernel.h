#pragma once

#include "plan/kernel.h"

namespace muster {

// How a backend turns half-precision values (float16, bfloat16) into float32 and back, to nearest even; n elements.
struct HalfConversions {
  void (*widen)(DType from, const void* half, float* single, int64_t n, int threads);
  void (*narrow)(DType to, const float* single, void* half, int64_t n, int threads);
};

// A kernel for half-precision values made of the table's kernel for float32: it widens its inputs into the workspace,
// computes there, and rounds its outputs. Inputs and outputs of other types are used as they are, so an output may stay
// float32. Tensors in an opaque form must all share it; the padding is computed like the rest. Throws Unimplemented if
// the table has no such kernel.
PreparedKernel PrepareInFloat32(const KernelRequest& request, const DeviceCaps& caps, const KernelTable& table,
                                const HalfConversions& conversions);

// Rows with this Prepare for each float32 row, in float16 and bfloat16. "prepare" calls PrepareInFloat32.
std::vector<KernelRow> HalfRowsFor(const std::vector<KernelRow>& rows, PrepareFn prepare);

}  // namespace muster
