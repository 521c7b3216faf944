#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

namespace muster {

// Carries one tensor per step from one partition's driver thread to another's. Bounded: a second Send waits until the
// first value was received. Once closed, both ends throw the error that closed it.
class Channel {
 public:
  explicit Channel(size_t bytes) : buffer_(bytes) {}

  void Send(const void* data);
  void Receive(void* data);
  // Empties it and forgets the error. Nobody may be waiting.
  void Reopen();
  // Wakes both ends with this error; later calls throw it too.
  void Close(std::exception_ptr error);

 private:
  void ThrowIfClosed();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> buffer_;
  bool is_full_ = false;
  std::exception_ptr error_;
};

}  // namespace muster
