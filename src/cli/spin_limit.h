#pragma once

namespace muster::cli {

// Limits how long OpenMP's threads spin before they sleep. GNU's runtime spins for 300,000 rounds, some ten milliseconds, which is
// ruinous as soon as anything else wants a core: the thread that holds one spins for the thread that waits for it. 10,000
// rounds are as fast on a quiet machine and several times faster on a busy one (docs/performance.md).
//
// The runtime reads its variable once, when it is loaded, so the program is started again with the variable set, which takes a
// few milliseconds. Returns if the user set GOMP_SPINCOUNT or OMP_WAIT_POLICY, or if that fails. To be called before any thread.
void LimitSpinning(char** argv);

}  // namespace muster::cli
