#include "run/part_clock.h"

namespace muster {

void PartClock::Start(Stream* stream) {
  size_ = 0;
  Mark(StepPart::kCompute, stream);
}

void PartClock::Mark(StepPart part, Stream* stream) {
  part_ = part;
  marks_[size_].part = part;
  stream->Stamp(&marks_[size_++].at);
}

void PartClock::Stop(Stream* stream) { Mark(part_, stream); }

std::array<double, kNumStepParts> PartClock::Sum() const {
  std::array<double, kNumStepParts> seconds{};
  for (size_t i = 0; i + 1 < size_; ++i)
    seconds[static_cast<size_t>(marks_[i].part)] += marks_[i + 1].at - marks_[i].at;
  return seconds;
}

}  // namespace muster
