#pragma once

#include <string>

#include "base/flags.h"

namespace muster::cli {

// muster bench --sweep: runs the benchmark that "values" describes once for each point of the grid, each in a process of its
// own, so that none inherits memory or warm caches from another, and prints one table. Returns the exit code: that of the
// first point that failed, if one did.
int BenchSweep(const FlagTable& table, const FlagValues& values);

}  // namespace muster::cli
