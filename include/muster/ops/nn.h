#pragma once

#include "muster/scope.h"

namespace muster::ops {

// x [N,H,W,C] or [N,C,H,W] as attrs.data_format says; filter [h,w,in,out] in either case (HWIO).
// SAME: out = ceil(in/stride), the smaller half of the padding before. VALID: no padding. Cross-correlation.
Output Conv2D(const Scope& scope, Output x, Output filter, ConvAttrs attrs);
// filter [h,w,channels,multiplier]; output channel = channel*multiplier + m.
Output DepthwiseConv2dNative(const Scope& scope, Output x, Output filter, ConvAttrs attrs);
// Adds bias [C] to the channels of x (last axis, or axis 1 for NCHW).
Output BiasAdd(const Scope& scope, Output x, Output bias, DataFormat data_format = DataFormat::kNHWC);
// The gradient goes to the first maximum of each window in row-major order.
Output MaxPool(const Scope& scope, Output x, PoolAttrs attrs);
// Divides by the number of real cells in the window, padding excluded.
Output AvgPool(const Scope& scope, Output x, PoolAttrs attrs);

// Batch normalisation over all axes but the channels. Training: normalises with the statistics of the batch (variance
// with 1/n) and gives them for the running averages (variance with n/(n-1), as TensorFlow's FusedBatchNormV3 does).
// Inference: normalises with "mean" and "variance".
struct BatchNormOutputs {
  Output y;
  Output batch_mean, batch_variance;  // [C]
};
BatchNormOutputs FusedBatchNorm(const Scope& scope, Output x, Output scale, Output offset, Output mean, Output variance,
                                BatchNormAttrs attrs);

Output LRN(const Scope& scope, Output x, LRNAttrs attrs);

Output Relu(const Scope& scope, Output x);   // gradient at 0 is 0
Output Relu6(const Scope& scope, Output x);  // gradient at 0 and 6 is 0
Output Sigmoid(const Scope& scope, Output x);
Output Tanh(const Scope& scope, Output x);
Output Softplus(const Scope& scope, Output x);
// Along the last axis of [batch, classes].
Output Softmax(const Scope& scope, Output logits);
Output LogSoftmax(const Scope& scope, Output logits);
// logits [batch, classes], labels int32/int64 [batch] -> loss [batch].
Output SparseSoftmaxCrossEntropyWithLogits(const Scope& scope, Output logits, Output labels);
// labels are distributions [batch, classes].
Output SoftmaxCrossEntropyWithLogits(const Scope& scope, Output logits, Output labels);
// Keeps each element with probability keep_prob and scales it by 1/keep_prob.
Output Dropout(const Scope& scope, Output x, double keep_prob, int64_t seed = 0);
// The same with given uniform numbers in [0,1): kept where uniform >= 1 - keep_prob.
Output DropoutWithUniform(const Scope& scope, Output x, Output uniform, double keep_prob);

}  // namespace muster::ops
