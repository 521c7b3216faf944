#pragma once

#include "core/device.h"

namespace muster {

// A CPU as a device: host memory, and a stream that runs each piece of work in the call that enqueues it.
class CpuDevice final : public Device {
 public:
  CpuDevice(DeviceName name, Allocator* allocator) : name_(std::move(name)), allocator_(allocator) {}

  const DeviceName& name() const override { return name_; }
  Allocator* allocator() override { return allocator_; }
  std::unique_ptr<Stream> CreateStream() override;
  std::unique_ptr<Event> CreateEvent() override;

 private:
  const DeviceName name_;
  Allocator* const allocator_;
};

}  // namespace muster
