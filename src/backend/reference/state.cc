// Fill, Assign, AssignAdd, AssignSub, _Snapshot, _Reorder. The assignments work on all the bytes of the variable, in
// whatever form it lies; the value comes in the same form.
#include <algorithm>
#include <cstring>

#include "backend/reference/reference_rows.h"
#include "base/check.h"

namespace muster {
namespace {

constexpr DType kAllTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                               DType::kInt32,   DType::kInt64,   DType::kUInt8,   DType::kBool};

// The two may be the same memory; empty tensors may have no address.
void CopyBytes(const void* from, void* to, size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}

template <typename T>
T Converted(double value) {
  if constexpr (std::is_same_v<T, Float16>) return ToFloat16(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, BFloat16>) return ToBFloat16(static_cast<float>(value));
  else return static_cast<T>(value);
}

template <typename T>
PreparedKernel PrepareFill(const KernelRequest& request, const DeviceCaps&) {
  const int64_t count = request.out(0).num_elements();
  const T value = Converted<T>(request.attr<FillAttrs>().value);
  return {MakeKernel([=](const LaunchArgs& args) { std::fill_n(args.out<T>(0), count, value); }), 0, {}};
}

PreparedKernel PrepareAssign(const KernelRequest& request, const DeviceCaps&) {
  MUSTER_CHECK(request.inputs[0].layout == request.inputs[1].layout);
  const auto bytes = static_cast<size_t>(request.inputs[0].byte_size());
  return {MakeKernel([=](const LaunchArgs& args) { CopyBytes(args.inputs[1], args.inputs[0], bytes); }), 0, {}};
}

template <typename T, int sign>
PreparedKernel PrepareAccumulate(const KernelRequest& request, const DeviceCaps&) {
  MUSTER_CHECK(request.inputs[0].layout == request.inputs[1].layout);
  const int64_t count = request.inputs[0].byte_size() / static_cast<int64_t>(sizeof(T));
  auto launch = [=](const LaunchArgs& args) {
    T* ref = args.ref<T>(0);
    const T* value = args.in<T>(1);
    for (int64_t i = 0; i < count; ++i) ref[i] = sign > 0 ? ref[i] + value[i] : ref[i] - value[i];
  };
  return {MakeKernel(launch), 0, {}};
}

PreparedKernel PrepareSnapshot(const KernelRequest& request, const DeviceCaps&) {
  const auto bytes = static_cast<size_t>(request.inputs[0].byte_size());
  return {MakeKernel([=](const LaunchArgs& args) { CopyBytes(args.inputs[0], args.outputs[0], bytes); }), 0, {}};
}

// From one form to another, by way of the plain one in the workspace when neither is plain.
PreparedKernel PrepareReorder(const KernelRequest& request, const DeviceCaps&) {
  const TensorDesc from = request.inputs[0], to = request.outputs[0];
  const auto bytes = static_cast<size_t>(from.byte_size());
  auto launch = [=](const LaunchArgs& args) {
    const void* source = args.inputs[0];
    if (from.layout == to.layout) {
      CopyBytes(source, args.outputs[0], bytes);
    } else if (to.layout.is_plain()) {
      from.layout.format()->Unpack(source, args.outputs[0]);
    } else if (from.layout.is_plain()) {
      to.layout.format()->Pack(source, args.outputs[0]);
    } else {
      from.layout.format()->Unpack(source, args.workspace);
      to.layout.format()->Pack(args.workspace, args.outputs[0]);
    }
  };
  const bool both_opaque = !from.layout.is_plain() && !to.layout.is_plain();
  return {MakeKernel(launch), both_opaque ? TensorDesc{from.dtype, from.shape, {}}.byte_size() : 0, {}};
}

template <typename T>
void AddTypedRows(std::vector<KernelRow>& rows) {
  rows.push_back({OpKind::kFill, DTypeOf<T>(), PrepareFill<T>});
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    rows.push_back({OpKind::kAssignAdd, DTypeOf<T>(), PrepareAccumulate<T, 1>});
    rows.push_back({OpKind::kAssignSub, DTypeOf<T>(), PrepareAccumulate<T, -1>});
  }
}

}  // namespace

std::vector<KernelRow> ReferenceStateRows() {
  std::vector<KernelRow> rows;
  for (DType dtype : kAllTypes) {
    rows.push_back({OpKind::kAssign, dtype, PrepareAssign});
    rows.push_back({OpKind::k_Snapshot, dtype, PrepareSnapshot});
    rows.push_back({OpKind::k_Reorder, dtype, PrepareReorder});
  }
  AddTypedRows<float>(rows);
  AddTypedRows<double>(rows);
  AddTypedRows<Float16>(rows);
  AddTypedRows<BFloat16>(rows);
  AddTypedRows<int32_t>(rows);
  AddTypedRows<int64_t>(rows);
  AddTypedRows<uint8_t>(rows);
  AddTypedRows<bool>(rows);
  return rows;
}

}  // namespace muster
