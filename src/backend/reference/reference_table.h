#pragma once

#include "plan/kernel.h"

namespace muster {

// The kernels of the reference backend: plain loops, single-threaded, for every operation and every sensible type; the oracle
// of the other backends' tests. Constant; usable from any thread.
const KernelTable& ReferenceTable();

}  // namespace muster
