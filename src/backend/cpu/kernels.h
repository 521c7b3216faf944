#pragma once

#include "plan/kernel.h"

// The Prepare functions of the CPU backend, one file per family; cpu_table.cc lists which operation uses which.
namespace muster::cpu {

// conv.cc: Conv2D, DepthwiseConv2dNative, their gradients and fused forms; _Reorder.
PreparedKernel PrepareConv(const KernelRequest& request, const DeviceCaps& caps);
LayoutWish ConvLayout(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareReorder(const KernelRequest& request, const DeviceCaps& caps);

// matmul.cc: MatMul, _FusedMatMul.
PreparedKernel PrepareMatMul(const KernelRequest& request, const DeviceCaps& caps);

// batch_norm.cc: FusedBatchNorm and its gradient, with ReLU and a side input or without.
PreparedKernel PrepareBatchNorm(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareBatchNormGrad(const KernelRequest& request, const DeviceCaps& caps);

}  // namespace muster::cpu
