#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// One step of a plan as it ran, and as the plan expects it. Times are seconds since the replay began.
struct TimelineSpan {
  std::string name;    // of the node: "tower_0/v/cg/conv0/conv2d/Conv2D"
  std::string op;      // "Conv2D"
  std::string device;  // full name
  std::string stream;  // "compute", "copy-in", "copy-out", "exchange"
  double start = 0, seconds = 0;
  double planned_start = 0, planned_seconds = 0;
  int64_t float_ops = 0;        // as TensorFlow's profiler counts them
  int64_t bytes = 0;            // read and written
  int64_t output_bytes = 0;     // written; an update in place writes its variable
  int64_t workspace_bytes = 0;  // held only while the step runs
  std::string output;           // description of the first output: "float32[32,112,112,64]"
};

// One replay, span by span in the plan's order. Planned times come from arithmetic and bytes alone: a span takes as
// long as the slower of the two would at this machine's balance, scaled so that the planned sum is the measured one.
// They show what a step should weigh beside the others, and which one is out of line.
struct Timeline {
  std::vector<TimelineSpan> spans;
};

// Chrome's trace event format (chrome://tracing, ui.perfetto.dev): for each device one process with a row per stream,
// and a second one, "planned", beside it. Timestamps are microseconds since the replay began, with three decimals.
std::string ChromeTrace(const Timeline& timeline);

// TensorFlow's StepStats as protobuf text: one dev_stats per device and stream, as its runtime names them.
std::string StepStatsText(const Timeline& timeline);

}  // namespace muster
