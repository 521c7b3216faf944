#pragma once

#include <memory>

namespace muster {

// Ctrl-C, cooperatively. While an InterruptScope lives, the first SIGINT or SIGTERM only sets a flag that loops poll;
// a second one ends the process at once, as without the scope. Loops that may run for longer than a fraction of a
// second between two steps poll inside the step too, so that the program ends within a second.
//
// A signal's disposition belongs to the process, so the flag is the one piece of global state here.

// True once an interrupt came (or RequestInterrupt was called). Any thread; a relaxed atomic load.
bool Interrupted();

// Throws Error{Cancelled} if one came. Building a graph and compiling it do so at every node, so that both end at once.
void ThrowIfInterrupted();

// What a signal does, for tests and for callers that have another reason to stop.
void RequestInterrupt();

// Installs the handlers; the destructor puts the former ones back and clears the flag. One at a time.
//
// The handlers run on a thread of their own: meanwhile the calling thread, and those that it starts, block both
// signals. oneDNN's matrix products for AVX2 let the stack pointer point into a buffer on the heap, and the frame of a
// signal that came then would overwrite what lies below.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

// The exit code of a program that ended because of Ctrl-C: 128 + SIGINT.
inline constexpr int kInterruptedExitCode = 130;

}  // namespace muster
