#pragma once

#include <cstdint>
#include <string>

namespace muster::bench {

// The one line that is rewritten on a terminal while nothing else is printed, for example
// "warm up 3/10, 2.9 s per step, 20 s left". "done" of "total" steps took "seconds".
std::string ProgressLine(const std::string& phase, int64_t done, int64_t total, double seconds);

// "0.8 s", "45 s", "3 min 20 s", "2 h 5 min".
std::string DurationText(double seconds);

}  // namespace muster::bench
