#pragma once

#include <vector>

#include "plan/kernel.h"

namespace muster::cpu {

// What this backend computes, row by row. Operations without a row here are left to the reference table, which callers chain
// behind this one: KernelTable({cpu::CpuRows(), reference::Rows()}).
std::vector<KernelRow> CpuRows();

}  // namespace muster::cpu
