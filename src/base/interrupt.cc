#include "base/interrupt.h"

#include <signal.h>

#include <atomic>

#include "base/check.h"
#include "muster/error.h"

namespace muster {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

struct sigaction former_int;
struct sigaction former_term;
bool installed = false;

void OnSignal(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

void ThrowIfInterrupted() {
  if (Interrupted()) throw Error(Code::kCancelled, "interrupted");
}

void RequestInterrupt() { interrupted.store(true, std::memory_order_relaxed); }

InterruptScope::InterruptScope() {
  MUSTER_CHECK(!installed);
  installed = true;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  // Reset: the second signal takes the default action. Restart: reads and writes in progress go on.
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &former_int);
  sigaction(SIGTERM, &action, &former_term);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &former_int, nullptr);
  sigaction(SIGTERM, &former_term, nullptr);
  interrupted.store(false, std::memory_order_relaxed);
  installed = false;
}

}  // namespace muster
