#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace muster::cli {

// Limits how long OpenMP's threads spin before they sleep, if other programs run. GNU's runtime spins for 300,000
// rounds, some ten milliseconds. On a quiet machine that is right: cores of a virtual machine that went to sleep come
// back late, and kernels whose threads do not end together (bfloat16 on AMX) are a tenth slower with less. As soon as
// anything else wants a core it is ruinous, for the thread that holds one spins for the thread that waits for it;
// 10,000 rounds are several times faster then (docs/performance.md).
//
// The runtime reads its variable once, when it is loaded, so the program is started again with the variable set, which
// takes a few milliseconds, as does looking whether others run. Returns if they do not, if the user set GOMP_SPINCOUNT
// or OMP_WAIT_POLICY, or if that fails. To be called before any thread.
void LimitSpinning(char** argv);

// Whether spinning should be limited: the user set neither variable, and more than this program runs most of the times
// that one looks, over a few milliseconds. "loadavg" gives the text of /proc/loadavg.
bool WantsSpinLimit(const std::function<std::string()>& loadavg);

// How many tasks of the machine run or wait for a core, from the text of /proc/loadavg; 0 if it does not say.
int RunnableTasks(std::string_view loadavg);

}  // namespace muster::cli
