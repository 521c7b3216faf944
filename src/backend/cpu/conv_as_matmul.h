#pragma once

#include "backend/cpu/onednn_adapter.h"
#include "plan/kernel.h"

// Convolutions with a 1x1 kernel and no padding are matrix products over NHWC, [pixels, in] x [in, out]: as fast as the
// convolution primitives forward and for the input gradient, faster for the filter gradient, five times faster to
// prepare, and their filters need no form of their own. With a stride, the pixels that the kernel meets are gathered
// first (as oneDNN does, too).
namespace muster::cpu {

// The one switch for running convolutions so.
bool RunsAsMatMul(const onednn::ConvProblem& p);

// x, filter[, bias] -> y; filter, dy -> dx; x, dy -> gradient of the filter (alone).
PreparedKernel PrepareConvAsMatMul(onednn::ConvKind kind, const onednn::ConvProblem& p,
                                   const onednn::ConvExtras& extras, int threads);

}  // namespace muster::cpu
