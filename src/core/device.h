#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "muster/device_name.h"

namespace muster {

struct AllocatorStats {
  int64_t allocations = 0;        // since construction
  int64_t bytes_in_use = 0;       // rounded sizes of live allocations
  int64_t peak_bytes_in_use = 0;
  int64_t largest_allocation = 0;
  int64_t bytes_limit = 0;        // 0: unlimited
  int64_t bytes_reserved = 0;     // taken from the system
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

// A point in a stream that another stream or the host can wait for.
class Event {
 public:
  virtual ~Event() = default;
  virtual void Synchronize() = 0;
};

// An ordered queue of work on a device. The CPU's stream runs each piece of work in the call that enqueues it.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void Record(Event* event) = 0;
  virtual void Wait(Event* event) = 0;
  virtual void Synchronize() = 0;
  // Copies within the device or between it and the host.
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
};

// One named place that computes. Owned by the session; its methods may be called from any thread.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceName& name() const = 0;
  virtual Allocator* allocator() = 0;
  virtual std::unique_ptr<Stream> CreateStream() = 0;
  virtual std::unique_ptr<Event> CreateEvent() = 0;
};

}  // namespace muster
