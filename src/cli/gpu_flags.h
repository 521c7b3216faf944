#pragma once

#include "base/flags.h"
#include "muster/gpu_options.h"

namespace muster::cli {

// The flags behind GpuOptions, for commands that make a session.
FlagTable GpuFlags();
// Throws InvalidArgument if the list of virtual GPUs is malformed; what the options themselves forbid the session
// refuses.
GpuOptions GpuOptionsOf(const FlagValues& values);

}  // namespace muster::cli
