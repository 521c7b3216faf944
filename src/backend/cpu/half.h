#pragma once

#include <vector>

#include "plan/kernel.h"

namespace muster::cpu {

// What this backend does in half precision, and the casts to and from it.
std::vector<KernelRow> HalfRows();

}  // namespace muster::cpu
