#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "muster/device_name.h"

namespace muster {

struct AllocatorStats {
  int64_t allocations = 0;   // since construction
  int64_t bytes_in_use = 0;  // rounded sizes of live allocations
  int64_t peak_bytes_in_use = 0;
  int64_t largest_allocation = 0;
  int64_t bytes_limit = 0;     // 0: unlimited
  int64_t bytes_reserved = 0;  // taken from the system
};

// Hands out device memory. Thread-safe. Allocate throws OutOfMemory; zero bytes give nullptr.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual const std::string& name() const = 0;
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* data) = 0;
  virtual AllocatorStats Stats() const = 0;
};

// A point in a stream that another stream or the host can wait for. Made by the device whose streams record it.
class Event {
 public:
  virtual ~Event() = default;
  // Blocks the calling thread until what was last recorded is done.
  virtual void Synchronize() = 0;
};

// The streams that each device has, as TensorFlow's GPU devices: work of one kind never waits for another's but where
// asked.
enum class StreamKind : uint8_t {
  kCompute,   // every kernel
  kCopyIn,    // host to device
  kCopyOut,   // device to host
  kExchange,  // to other devices
};
inline constexpr size_t kNumStreamKinds = 4;

// An ordered queue of work on a device. The CPU's stream runs each piece of work in the call that enqueues it; others
// return at once, and addresses must stay valid until the work is done. May be used from any thread, by several at
// once.
class Stream {
 public:
  virtual ~Stream() = default;
  // The event stands for everything enqueued so far.
  virtual void Record(Event* event) = 0;
  // What is enqueued from now on starts after what "event", of whatever device, stands for now.
  virtual void Wait(Event* event) = 0;
  // Blocks until all work is done. Throws the first error since the last call, and forgets it.
  virtual void Synchronize() = 0;
  // Blocks until all work is done or so many seconds have passed; false: there is work left. A stream without such a
  // wait may say that there is none: Synchronize then waits for the rest.
  virtual bool WaitFor(double seconds) {
    static_cast<void>(seconds);
    return true;
  }
  // Calls "decide" when everything enqueued before is done, with what it failed with (null: nothing). If it throws,
  // work enqueued behind is skipped and Synchronize throws that. A stream that cannot take back its work calls it at
  // once, and so throws here.
  virtual void Decide(const std::function<void(std::exception_ptr)>& decide) { decide(nullptr); }
  // Work that has not begun is skipped, if there is any and the stream can do that, and Synchronize throws "error".
  virtual void Abandon(std::exception_ptr error) { static_cast<void>(error); }
  // Writes SteadySeconds() (base/clock.h) to "seconds" when everything enqueued before is done. Valid once the stream
  // is idle.
  virtual void Stamp(double* seconds) = 0;
  // Copies within the device, between devices, or between one and the host.
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  // Fills with zeros.
  virtual void Clear(void* to, size_t bytes) = 0;
};

// One named place that computes. Owned by the session; its methods may be called from any thread. Its memory is
// touched by its own streams' work only: the host copies in and out.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceName& name() const = 0;
  virtual Allocator* allocator() = 0;
  // The device's stream of this kind, which lives as long as it does. A synchronous device has one for all kinds.
  virtual Stream* stream(StreamKind kind) = 0;
  virtual std::unique_ptr<Event> CreateEvent() = 0;
  // Whether work runs behind the back of the thread that enqueues it.
  virtual bool is_asynchronous() const = 0;
};

}  // namespace muster
