#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "plan/kernel.h"

namespace muster::reference {

inline constexpr DType kAllDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                                       DType::kInt32,   DType::kInt64,   DType::kUInt8,   DType::kBool};

// One row per element type for a kernel that is a struct with a member template: K::Prepare<T>(request, caps).
template <typename K, typename... Ts>
void AddRows(std::vector<KernelRow>& rows, OpKind kind) {
  (rows.push_back({kind, DTypeOf<Ts>(), &K::template Prepare<Ts>}), ...);
}

// The same kernel for every element type.
inline void AddAllRows(std::vector<KernelRow>& rows, OpKind kind, PrepareFn prepare) {
  for (DType dtype : kAllDTypes) rows.push_back({kind, dtype, prepare});
}

// For kernels that only move elements: calls f with a value of the unsigned type that has the dtype's size.
template <typename F>
PreparedKernel BySize(DType dtype, F f) {
  switch (SizeOf(dtype)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
  }
  MUSTER_CHECK(false);
  return {};
}

}  // namespace muster::reference
