#pragma once

#include "plan/kernel.h"

namespace muster {

// The kernels of simulated devices: for each row of the CPU backend (or of the reference backend alone) one whose
// Launch enqueues the CPU's on the stream of its arguments, with the bytes that it touches. Streams must be SimStreams;
// without one it runs at once. Constant; usable from any thread.
const KernelTable& SimCpuTable();
const KernelTable& SimReferenceTable();

}  // namespace muster
