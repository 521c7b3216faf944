#pragma once

#include <vector>

#include "plan/kernel.h"

namespace muster {

// What this backend computes, row by row. Operations without a row here are left to the reference table, which callers
// chain behind this one: KernelTable({CpuRows(), ReferenceRows()}).
std::vector<KernelRow> CpuRows();
// Those of them that compute float32.
std::vector<KernelRow> CpuSingleRows();

}  // namespace muster
