// Half precision on the CPU. Of bfloat16, convolutions and matrix products are oneDNN's where the CPU has instructions
// for them; batch norm, element-wise work, pooling and reductions read and write it in memory as it is, and compute in
// float32. What only moves values moves both halves. Everything else is widened in the workspace, computed there by the
// kernel for float32, and rounded (plan/half_kernel.h).

#include "backend/cpu/half.h"

#include <algorithm>
#include <array>

#include "backend/cpu/cpu_table.h"
#include "backend/cpu/half_simd.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/onednn_adapter.h"
#include "backend/cpu/parallel.h"
#include "core/convert.h"
#include "muster/error.h"
#include "plan/half_kernel.h"

namespace muster::cpu {
namespace {

void Widen(DType from, const void* half, float* single, int64_t n, int threads) {
  const HalfSimd& simd = GetHalfSimd();
  const auto widen = from == DType::kFloat16 ? simd.widen_float16 : simd.widen_bfloat16;
  ParallelFor(threads, n, GrainFor(6), [&](int64_t begin, int64_t end) {
    widen(static_cast<const uint16_t*>(half) + begin, single + begin, end - begin);
  });
}

void Narrow(DType to, const float* single, void* half, int64_t n, int threads) {
  const HalfSimd& simd = GetHalfSimd();
  const auto narrow = to == DType::kFloat16 ? simd.narrow_float16 : simd.narrow_bfloat16;
  ParallelFor(threads, n, GrainFor(6), [&](int64_t begin, int64_t end) {
    narrow(single + begin, static_cast<uint16_t*>(half) + begin, end - begin);
  });
}

const KernelTable& SingleTable() {
  static const KernelTable table({CpuSingleRows()});
  return table;
}

// Whether oneDNN's own kernel can take the request as it is: the gradients of a filter and of its bias have one type
// there.
bool IsNative(const KernelRequest& r) { return r.outputs.size() == 1 || r.outputs[0].dtype == r.outputs[1].dtype; }

PreparedKernel PrepareHalf(const KernelRequest& r, const DeviceCaps& caps) {
  return PrepareInFloat32(r, caps, SingleTable(), {Widen, Narrow});
}

// Problems that oneDNN has no bfloat16 kernel for throw, and are then computed in float32.
PreparedKernel PrepareBFloat16Conv(const KernelRequest& r, const DeviceCaps& caps) {
  if (!IsNative(r)) return PrepareHalf(r, caps);
  try {
    return PrepareConv(r, caps);
  } catch (const Error&) {
    for (const auto* descs : {&r.inputs, &r.outputs})
      for (const TensorDesc& desc : *descs)
        if (!desc.layout.is_plain()) throw;
    return PrepareHalf(r, caps);
  }
}

LayoutWish BFloat16ConvLayout(const KernelRequest& r, const DeviceCaps& caps) {
  const LayoutWish plain{std::vector<Layout>(r.inputs.size()), std::vector<Layout>(r.outputs.size())};
  if (!IsNative(r)) return plain;
  try {
    return ConvLayout(r, caps);
  } catch (const Error&) {
    return plain;
  }
}

PreparedKernel PrepareBFloat16MatMul(const KernelRequest& r, const DeviceCaps& caps) {
  if (r.in(0).num_elements() == 0 || r.in(1).num_elements() == 0) return PrepareHalf(r, caps);
  try {
    return PrepareMatMul(r, caps);
  } catch (const Error&) {
    return PrepareHalf(r, caps);
  }
}

// bfloat16 in memory is read and written as it is, where the parameters (variables) are float32.
PreparedKernel PrepareBFloat16BatchNorm(const KernelRequest& r, const DeviceCaps& caps) {
  const bool is_forward = r.kind == OpKind::kFusedBatchNorm || r.kind == OpKind::k_FusedBatchNormEx;
  if (r.inputs[is_forward ? 1 : 2].dtype != DType::kFloat32) return PrepareHalf(r, caps);
  return is_forward ? PrepareBatchNorm(r, caps) : PrepareBatchNormGrad(r, caps);
}

// Kernels that have a form for bfloat16 in memory.
bool ReadsBFloat16(const KernelRow& row) {
  constexpr std::array kForms = {PrepareBinary,    PrepareUnary,  PrepareAddN,       PreparePool,
                                 PrepareReduction, PrepareL2Loss, PrepareBiasAddGrad};
  return std::ranges::find(kForms, row.prepare) != kForms.end();
}

// Kernels that only move values.
bool IsCopy(const KernelRow& row) {
  constexpr std::array kCopies = {PrepareTranspose, PrepareConcat, PrepareSplit,      PrepareSlice,
                                  PreparePad,       PrepareTile,   PrepareBroadcastTo};
  return std::ranges::find(kCopies, row.prepare) != kCopies.end();
}

PreparedKernel PrepareCast(const KernelRequest& r, const DeviceCaps& caps) {
  const DType from = r.inputs[0].dtype, to = r.outputs[0].dtype;
  const int64_t n = r.out(0).num_elements();
  const int threads = caps.threads;
  if (IsHalf(from) && to == DType::kFloat32)
    return {MakeKernel([=](const LaunchArgs& a) { Widen(from, a.inputs[0], a.out<float>(0), n, threads); })};
  if (from == DType::kFloat32 && IsHalf(to))
    return {MakeKernel([=](const LaunchArgs& a) { Narrow(to, a.in<float>(0), a.outputs[0], n, threads); })};
  // Loops that no network has in its step.
  return ByDType(from, [&](auto from_type) {
    return ByDType(to, [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      return PreparedKernel{MakeKernel([n](const LaunchArgs& a) {
        for (int64_t i = 0; i < n; ++i) a.out<To>(0)[i] = Convert<To>(a.in<From>(0)[i]);
      })};
    });
  });
}

}  // namespace

std::vector<KernelRow> HalfRows() {
  using enum OpKind;
  std::vector<KernelRow> rows;
  const bool has_bfloat16 = onednn::HasBFloat16();
  if (has_bfloat16) {
    for (OpKind kind :
         {kConv2D, kConv2DBackpropInput, kConv2DBackpropFilter, k_FusedConv2D, k_FusedConv2DBackpropFilter})
      rows.push_back({kind, DType::kBFloat16, PrepareBFloat16Conv, BFloat16ConvLayout});
    for (OpKind kind : {kMatMul, k_FusedMatMul}) rows.push_back({kind, DType::kBFloat16, PrepareBFloat16MatMul});
    rows.push_back({k_Reorder, DType::kBFloat16, PrepareAnyReorder});
  }
  for (OpKind kind : {kFusedBatchNorm, kFusedBatchNormGrad, k_FusedBatchNormEx, k_FusedBatchNormGradEx})
    rows.push_back({kind, DType::kBFloat16, PrepareBFloat16BatchNorm});
  for (const KernelRow& row : CpuSingleRows()) {
    if (IsCopy(row) || ReadsBFloat16(row)) rows.push_back({row.kind, DType::kBFloat16, row.prepare});
    if (IsCopy(row)) rows.push_back({row.kind, DType::kFloat16, row.prepare});
  }
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) rows.push_back({kCast, dtype, PrepareCast});
  // All others through float32.
  const auto is_there = [&](const KernelRow& row) {
    return std::ranges::any_of(rows, [&](const KernelRow& r) { return r.kind == row.kind && r.dtype == row.dtype; });
  };
  for (const KernelRow& row : HalfRowsFor(CpuSingleRows(), PrepareHalf))
    if (row.kind != k_MatMulApplyGradientDescent && row.kind != k_Reorder && !is_there(row)) rows.push_back(row);
  return rows;
}

}  // namespace muster::cpu
