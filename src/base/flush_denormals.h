#pragma once

#include <cstdint>

namespace muster {

// While it lives, this thread computes with numbers too small for the normal form (below 1.2e-38 in float32) as zeros,
// as TensorFlow's threads do: processors need up to a hundred times longer for them, and saturated softmaxes are full
// of them. Threads that start meanwhile inherit it; those that run already must be told (backend/cpu/parallel.h tells
// OpenMP's). Objects on one thread nest. Does nothing where the processor has no such switch.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

  // Whether one lives on this thread.
  static bool IsOnThisThread();
  // Calls "end" on this thread when its outermost object, which must live, has ended. There is room for one function.
  static void AtEnd(void (*end)());

 private:
  uint32_t before_;
};

// How this thread treats such numbers, to hand on to another one; nothing else of the thread's arithmetic is in it.
uint32_t DenormalMode();
void SetDenormalMode(uint32_t mode);

}  // namespace muster
