#pragma once

#include <cstddef>
#include <vector>

#include "plan/plan.h"

namespace muster {

// The first step of each partition that updates a variable; "from_gradients": with something that a gradient went into.
// The number of steps where there is none.
std::vector<size_t> FirstUpdates(const Plan& plan, bool from_gradients);

// How far each partition comes if it stops in front of step stop[p]: what must wait for another partition's step behind
// its stop is never reached.
std::vector<size_t> ReachedBefore(const Plan& plan, const std::vector<size_t>& stop);

}  // namespace muster
