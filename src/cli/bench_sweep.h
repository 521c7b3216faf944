#pragma once

#include <string>

#include "base/flags.h"

namespace muster::cli {

// muster bench --sweep: runs the benchmark that "values" describes once for each point of the grid, each in a process
// of its own, so that none inherits memory or warm caches from another, and prints one table. Returns the exit code:
// that of the first point that failed, if one did. "batch_is_largest": each point is run with --batch_size=auto, unless
// it says otherwise.
int BenchSweep(const FlagTable& table, const FlagValues& values, bool batch_is_largest);

}  // namespace muster::cli
