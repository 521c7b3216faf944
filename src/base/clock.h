#pragma once

namespace muster {

// Seconds on a clock that never jumps. Any thread.
double SteadySeconds();

}  // namespace muster
