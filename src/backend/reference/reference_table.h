#pragma once

#include <vector>

#include "plan/kernel.h"

namespace muster {

// The kernels of the reference backend: plain loops, single-threaded, for every operation and every sensible type; the
// oracle of the other backends' tests. Constant; usable from any thread.
const KernelTable& ReferenceTable();

// Its rows, for a backend that falls back on them where it has no kernel of its own.
std::vector<KernelRow> ReferenceRows();

}  // namespace muster
