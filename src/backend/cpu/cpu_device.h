#pragma once

#include "core/device.h"

namespace muster {

// Runs each piece of work in the call that enqueues it. Has no state.
class InlineStream final : public Stream {
 public:
  void Record(Event*) override {}
  void Wait(Event* event) override { event->Synchronize(); }
  void Synchronize() override {}
  void Stamp(double* seconds) override;
  void Copy(void* to, const void* from, size_t bytes) override;
  void Clear(void* to, size_t bytes) override;
};

// A CPU as a device: host memory, and a stream that runs each piece of work in the call that enqueues it.
class CpuDevice final : public Device {
 public:
  CpuDevice(DeviceName name, Allocator* allocator) : name_(std::move(name)), allocator_(allocator) {}

  const DeviceName& name() const override { return name_; }
  Allocator* allocator() override { return allocator_; }
  Stream* stream(StreamKind) override { return &stream_; }
  std::unique_ptr<Event> CreateEvent() override;
  bool is_asynchronous() const override { return false; }

 private:
  const DeviceName name_;
  Allocator* const allocator_;
  InlineStream stream_;
};

}  // namespace muster
