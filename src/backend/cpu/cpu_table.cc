#include "backend/cpu/cpu_table.h"

#include "backend/cpu/kernels.h"

namespace muster {

std::vector<KernelRow> CpuRows() {
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
      {k_Reorder, f32, PrepareReorder},
      // batch_norm.cc
      {kFusedBatchNorm, f32, PrepareBatchNorm},
      {kFusedBatchNormGrad, f32, PrepareBatchNormGrad},
      {k_FusedBatchNormEx, f32, PrepareBatchNorm},
      {k_FusedBatchNormGradEx, f32, PrepareBatchNormGrad},
      // matmul.cc
      {kMatMul, f32, PrepareMatMul},
      {k_FusedMatMul, f32, PrepareMatMul},
  };
}

}  // namespace muster
