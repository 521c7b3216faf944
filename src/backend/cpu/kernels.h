#pragma once

#include "plan/kernel.h"

// The Prepare functions of the CPU backend, by file; cpu_table.cc lists which operation uses which.
namespace muster::cpu {

// conv.cc
PreparedKernel PrepareConv(const KernelRequest& request, const DeviceCaps& caps);
LayoutWish ConvLayout(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareReorder(const KernelRequest& request, const DeviceCaps& caps);

// matmul.cc
LayoutWish MatMulLayout(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareMatMul(const KernelRequest& request, const DeviceCaps& caps);

// dense.cc
PreparedKernel PrepareMatMulApply(const KernelRequest& request, const DeviceCaps& caps);
LayoutWish MatMulApplyLayout(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareAnyReorder(const KernelRequest& request, const DeviceCaps& caps);

// batch_norm.cc
PreparedKernel PrepareBatchNorm(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareBatchNormGrad(const KernelRequest& request, const DeviceCaps& caps);

// elementwise.cc
PreparedKernel PrepareBinary(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareUnary(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareAddN(const KernelRequest& request, const DeviceCaps& caps);

// reduction.cc
PreparedKernel PrepareReduction(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareL2Loss(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareBiasAddGrad(const KernelRequest& request, const DeviceCaps& caps);

// pool.cc
PreparedKernel PreparePool(const KernelRequest& request, const DeviceCaps& caps);

// lrn.cc
PreparedKernel PrepareLrn(const KernelRequest& request, const DeviceCaps& caps);

// softmax_loss.cc
PreparedKernel PrepareSoftmax(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareSparseCrossEntropy(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareDenseCrossEntropy(const KernelRequest& request, const DeviceCaps& caps);

// array.cc
PreparedKernel PrepareTranspose(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareConcat(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareSplit(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareSlice(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PreparePad(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareTile(const KernelRequest& request, const DeviceCaps& caps);
PreparedKernel PrepareBroadcastTo(const KernelRequest& request, const DeviceCaps& caps);

// random.cc
PreparedKernel PrepareRandom(const KernelRequest& request, const DeviceCaps& caps);

// apply.cc
PreparedKernel PrepareApply(const KernelRequest& request, const DeviceCaps& caps);

}  // namespace muster::cpu
