#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/device.h"

namespace muster {

// What a device's compute stream spends its time on.
enum class StepPart : uint8_t { kCompute, kExchange, kUpdate };
inline constexpr size_t kNumStepParts = 3;

// Splits one replay of a partition by what it spends time on: a stamp on the compute stream wherever the kind of work
// changes. Neither allocates nor locks between Start and Sum. One thread.
class PartClock {
 public:
  // "most": of changes that a replay can make.
  explicit PartClock(size_t most) : marks_(most + 2) {}

  void Start(Stream* stream);
  // From here on the stream does this.
  void Enter(StepPart part, Stream* stream) {
    if (part != part_) Mark(part, stream);
  }
  void Stop(Stream* stream);
  // Seconds by part. The stream must be idle.
  std::array<double, kNumStepParts> Sum() const;

 private:
  struct Entry {
    StepPart part = StepPart::kCompute;
    double at = 0;
  };
  void Mark(StepPart part, Stream* stream);

  std::vector<Entry> marks_;
  size_t size_ = 0;
  StepPart part_ = StepPart::kCompute;
};

}  // namespace muster
