#pragma once

#include "plan/kernel.h"

// Dense layers, matrix products whose weights are large: kernels of our own, with the weights in a form of our own that
// all passes read from front to back (see dense_simd.h).
namespace muster::cpu {

// The form of weights [in, out]; plain if they are too few or too narrow to gain by it.
Layout DenseLayout(DType dtype, int64_t in, int64_t out);

// Whether this layout is such a form.
bool IsDense(const Layout& layout);

// MatMul and _FusedMatMul one of whose tensors (weights or their gradient) is in such a form: y = x w, dx = dy w^T or
// dw = x^T dy.
PreparedKernel PrepareDense(const KernelRequest& request, const DeviceCaps& caps);

}  // namespace muster::cpu
