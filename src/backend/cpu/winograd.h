#pragma once

#include "backend/cpu/onednn_adapter.h"
#include "plan/kernel.h"

// Winograd's algorithm for 3x3 and 5x5 convolutions of stride 1 over NHWC activations with plain HWIO filters: a
// quarter of the direct algorithm's multiplications for 3x3, 0.36 of them for 5x5. See winograd_transform_simd.h for
// the arithmetic and its rounding errors.
namespace muster::cpu {

// Whether the algorithm can compute this convolution (or its gradients) at all.
bool CanUseWinograd(const onednn::ConvProblem& problem);

// Whether it is faster here than the direct algorithm. A rule found with benchmarks/cpu_kernels; see winograd.cc.
bool PrefersWinograd(onednn::ConvKind kind, const onednn::ConvProblem& problem);

// The forward pass (inputs x, filter[, bias]; output y) and the input gradient (inputs filter, dy; output dx).
PreparedKernel PrepareWinograd(onednn::ConvKind kind, const onednn::ConvProblem& problem,
                               const onednn::ConvExtras& extras, int threads);

// The filter gradient (inputs x, dy; output dfilter), winograd_filter_gradient.cc.
PreparedKernel PrepareWinogradFilterGradient(const onednn::ConvProblem& problem, int threads);

}  // namespace muster::cpu
