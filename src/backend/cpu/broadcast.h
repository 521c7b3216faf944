#pragma once

#include "backend/cpu/elementwise_simd.h"
#include "plan/kernel.h"

namespace muster::cpu {

// out = op(a, b) with NumPy's broadcasting, for inputs 0 and 1 and output 0 of the node. Opaque layouts are taken when
// both tensors share one, or the other is a single value: an element-wise operation does not care for the order.
PreparedKernel PrepareBroadcast(const KernelRequest& request, const DeviceCaps& caps, BinaryOp op);

}  // namespace muster::cpu
