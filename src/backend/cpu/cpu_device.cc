#include "backend/cpu/cpu_device.h"

#include <cstring>

#include "base/clock.h"

namespace muster {
namespace {

// Work is done when its call returns, so there is nothing to wait for.
class DoneEvent final : public Event {
 public:
  void Synchronize() override {}
};

}  // namespace

void InlineStream::Stamp(double* seconds) { *seconds = SteadySeconds(); }

void InlineStream::Copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void InlineStream::Clear(void* to, size_t bytes) {
  if (bytes > 0) std::memset(to, 0, bytes);
}

std::unique_ptr<Event> CpuDevice::CreateEvent() { return std::make_unique<DoneEvent>(); }

}  // namespace muster
