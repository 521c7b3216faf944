#include "plan/kernel.h"

#include "base/check.h"

namespace muster {
namespace {
constexpr size_t kNumDTypes = 8;
size_t Slot(OpKind kind, DType dtype) { return static_cast<size_t>(kind) * kNumDTypes + static_cast<size_t>(dtype); }
}  // namespace

DType KernelDType(const KernelRequest& request) {
  for (const TensorDesc& input : request.inputs)
    if (IsFloating(input.dtype)) return input.dtype;
  if (!request.inputs.empty()) return request.inputs[0].dtype;
  return request.outputs.empty() ? DType::kFloat32 : request.outputs[0].dtype;
}

KernelTable::KernelTable(std::vector<std::vector<KernelRow>> tables) : index_(kNumOpKinds * kNumDTypes, -1) {
  for (const auto& table : tables)
    for (const KernelRow& row : table) {
      int& slot = index_[Slot(row.kind, row.dtype)];
      if (slot >= 0) continue;
      slot = static_cast<int>(rows_.size());
      rows_.push_back(row);
    }
}

const KernelRow* KernelTable::Find(OpKind kind, DType dtype) const {
  const int slot = index_[Slot(kind, dtype)];
  return slot < 0 ? nullptr : &rows_[static_cast<size_t>(slot)];
}

}  // namespace muster
