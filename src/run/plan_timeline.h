#pragma once

#include <vector>

#include "muster/timeline.h"
#include "plan/plan.h"

namespace muster {

// When a step ran: seconds since the replay began, and how long it took.
struct StepSpan {
  double start = 0, seconds = 0;
};

// The timeline of a replay, from the spans of each partition's steps.
Timeline MakeTimeline(const Plan& plan, const std::vector<std::vector<StepSpan>>& spans);

}  // namespace muster
