#pragma once

#include <vector>

#include "muster/scope.h"

namespace muster {

// Adds the operations that compute d(sum of all elements of y)/dx for each x, under a "gradients" name scope, and
// returns one output per x: invalid where y does not depend on x. Gradient operations ask for the device of the
// operation they differentiate. "grad_y" replaces the default of ones. Throws Unimplemented naming the op that has no
// gradient.
std::vector<Output> Gradients(const Scope& scope, Output y, const std::vector<Output>& xs, Output grad_y = {});

}  // namespace muster
