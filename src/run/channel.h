#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

namespace muster {

// The hosts' part of a transfer: tells the receiver's driver that the sender's has enqueued the copy and recorded its
// event, so that waiting for the event means this replay's. Carries no data. One sender, one receiver; neither locks.
class Channel {
 public:
  // Before each replay, when nobody uses it: forgets the last one.
  void Reopen() { state_.store(kEmpty, std::memory_order_relaxed); }
  // Never blocks.
  void Post();
  // Blocks until the post, or throws the error that closed the channel.
  void Await();
  // Wakes the receiver with this error. At most one call for each replay.
  void Close(std::exception_ptr error);

 private:
  enum State : uint32_t { kEmpty, kPosted, kClosed };

  std::atomic<uint32_t> state_{kEmpty};
  std::exception_ptr error_;  // written before kClosed is
};

}  // namespace muster
