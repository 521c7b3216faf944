#include "base/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

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

sigset_t InterruptSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

void ThrowIfInterrupted() {
  if (Interrupted()) throw Error(Code::kCancelled, "interrupted");
}

void RequestInterrupt() { interrupted.store(true, std::memory_order_relaxed); }

// The thread that signals are left to, and the mask of the one that made it.
class InterruptScope::Listener {
 public:
  Listener() {
    if (::pipe2(end_, O_CLOEXEC) != 0)
      throw Internal(std::string("no pipe for the thread that waits for Ctrl-C: ") + std::strerror(errno));
    pthread_sigmask(SIG_BLOCK, &signals_, &former_);
    thread_ = std::thread([this] { Listen(); });
  }
  ~Listener() {
    ::close(end_[1]);
    thread_.join();
    ::close(end_[0]);
    pthread_sigmask(SIG_SETMASK, &former_, nullptr);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  void Listen() const {
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    char nothing;
    while (::read(end_[0], &nothing, 1) < 0 && errno == EINTR) {
    }
  }

  const sigset_t signals_ = InterruptSignals();
  sigset_t former_{};
  int end_[2] = {-1, -1};  // whose writing end is closed when the scope ends
  std::thread thread_;
};

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
  listener_ = std::make_unique<Listener>();
}

InterruptScope::~InterruptScope() {
  listener_.reset();
  sigaction(SIGINT, &former_int, nullptr);
  sigaction(SIGTERM, &former_term, nullptr);
  interrupted.store(false, std::memory_order_relaxed);
  installed = false;
}

}  // namespace muster
