#include "base/clock.h"

#include <chrono>

namespace muster {

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace muster
