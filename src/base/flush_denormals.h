#pragma once

#include <cstdint>

namespace muster {

// While it lives, this thread computes with numbers too small for the normal form (below 1.2e-38 in float32) as zeros, as TensorFlow's
// threads do: processors need up to a hundred times longer for them, and saturated softmaxes are full of them. Threads that
// start meanwhile inherit it, so OpenMP's do. Does nothing where the processor has no such switch.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  uint32_t before_;
};

}  // namespace muster
