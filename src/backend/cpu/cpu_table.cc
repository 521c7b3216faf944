#include "backend/cpu/cpu_table.h"

#include "backend/cpu/half.h"
#include "backend/cpu/kernels.h"

namespace muster {

std::vector<KernelRow> CpuSingleRows() {
  using namespace cpu;  // NOLINT: this is the list of that namespace's functions
  using enum OpKind;
  constexpr DType f32 = DType::kFloat32;
  return {
      // conv.cc
      {kConv2D, f32, PrepareConv, ConvLayout},
      {kConv2DBackpropInput, f32, PrepareConv, ConvLayout},
      {kConv2DBackpropFilter, f32, PrepareConv, ConvLayout},
      {kDepthwiseConv2dNative, f32, PrepareConv, ConvLayout},
      {kDepthwiseConv2dNativeBackpropInput, f32, PrepareConv, ConvLayout},
      {kDepthwiseConv2dNativeBackpropFilter, f32, PrepareConv, ConvLayout},
      {k_FusedConv2D, f32, PrepareConv, ConvLayout},
      {k_FusedConv2DBackpropFilter, f32, PrepareConv, ConvLayout},
      // matmul.cc
      {kMatMul, f32, PrepareMatMul, MatMulLayout},
      {k_FusedMatMul, f32, PrepareMatMul, MatMulLayout},
      // dense.cc
      {k_MatMulApplyGradientDescent, f32, PrepareMatMulApply, MatMulApplyLayout},
      {k_Reorder, f32, PrepareAnyReorder},
      // batch_norm.cc
      {kFusedBatchNorm, f32, PrepareBatchNorm},
      {kFusedBatchNormGrad, f32, PrepareBatchNormGrad},
      {k_FusedBatchNormEx, f32, PrepareBatchNorm},
      {k_FusedBatchNormGradEx, f32, PrepareBatchNormGrad},
      // elementwise.cc, two inputs
      {kAdd, f32, PrepareBinary},
      {kSub, f32, PrepareBinary},
      {kMul, f32, PrepareBinary},
      {kDiv, f32, PrepareBinary},
      {kMaximum, f32, PrepareBinary},
      {kMinimum, f32, PrepareBinary},
      {kSquaredDifference, f32, PrepareBinary},
      {kBiasAdd, f32, PrepareBinary},
      {kReluGrad, f32, PrepareBinary},
      {kRelu6Grad, f32, PrepareBinary},
      {kSigmoidGrad, f32, PrepareBinary},
      {kTanhGrad, f32, PrepareBinary},
      {kSoftplusGrad, f32, PrepareBinary},
      {kAddN, f32, PrepareAddN},
      // elementwise.cc, one input
      {kNeg, f32, PrepareUnary},
      {kSquare, f32, PrepareUnary},
      {kSqrt, f32, PrepareUnary},
      {kRsqrt, f32, PrepareUnary},
      {kReciprocal, f32, PrepareUnary},
      {kAbs, f32, PrepareUnary},
      {kSign, f32, PrepareUnary},
      {kExp, f32, PrepareUnary},
      {kLog, f32, PrepareUnary},
      {kFloor, f32, PrepareUnary},
      {kCeil, f32, PrepareUnary},
      {kRelu, f32, PrepareUnary},
      {kRelu6, f32, PrepareUnary},
      {kSigmoid, f32, PrepareUnary},
      {kTanh, f32, PrepareUnary},
      {kSoftplus, f32, PrepareUnary},
      // reduction.cc
      {kSum, f32, PrepareReduction},
      {kMean, f32, PrepareReduction},
      {kMax, f32, PrepareReduction},
      {kMin, f32, PrepareReduction},
      {kL2Loss, f32, PrepareL2Loss},
      {kBiasAddGrad, f32, PrepareBiasAddGrad},
      // pool.cc, lrn.cc
      {kMaxPool, f32, PreparePool},
      {kMaxPoolGrad, f32, PreparePool},
      {k_MaxPoolReluGrad, f32, PreparePool},
      {kAvgPool, f32, PreparePool},
      {kAvgPoolGrad, f32, PreparePool},
      {kLRN, f32, PrepareLrn},
      {kLRNGrad, f32, PrepareLrn},
      // softmax_loss.cc
      {kSoftmax, f32, PrepareSoftmax},
      {kLogSoftmax, f32, PrepareSoftmax},
      {kSparseSoftmaxCrossEntropyWithLogits, f32, PrepareSparseCrossEntropy},
      {kSoftmaxCrossEntropyWithLogits, f32, PrepareDenseCrossEntropy},
      // array.cc
      {kTranspose, f32, PrepareTranspose},
      {kConcat, f32, PrepareConcat},
      {kPack, f32, PrepareConcat},
      {kSplit, f32, PrepareSplit},
      {kSlice, f32, PrepareSlice},
      {kPad, f32, PreparePad},
      {kTile, f32, PrepareTile},
      {kBroadcastTo, f32, PrepareBroadcastTo},
      // random.cc
      {kRandomUniform, f32, PrepareRandom},
      {kRandomStandardNormal, f32, PrepareRandom},
      {kTruncatedNormal, f32, PrepareRandom},
      // apply.cc
      {kApplyGradientDescent, f32, PrepareApply},
      {kApplyMomentum, f32, PrepareApply},
      {kApplyRMSProp, f32, PrepareApply},
      {kApplyCenteredRMSProp, f32, PrepareApply},
      {kApplyAdam, f32, PrepareApply},
      {kApplyAdaMax, f32, PrepareApply},
      {kApplyAdagrad, f32, PrepareApply},
      {kApplyAdadelta, f32, PrepareApply},
      {kApplyFtrl, f32, PrepareApply},
      {kApplyProximalGradientDescent, f32, PrepareApply},
  };
}

std::vector<KernelRow> CpuRows() {
  std::vector<KernelRow> rows = CpuSingleRows();
  for (const KernelRow& row : cpu::HalfRows()) rows.push_back(row);
  return rows;
}

}  // namespace muster
