#include "muster/timeline.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/json.h"

namespace muster {
namespace {

int64_t Micros(double seconds) { return static_cast<int64_t>(seconds * 1e6 + 0.5); }

// Whole nanoseconds: both ends of a span are rounded, so that what follows another in a row never overlaps it.
int64_t Nanos(double seconds) { return static_cast<int64_t>(seconds * 1e9 + 0.5); }
double MicrosOf(int64_t nanos) { return static_cast<double>(nanos) / 1e3; }

// A number for each device and each of its streams, in order of appearance.
class Rows {
 public:
  int Device(const std::string& device) {
    return devices_.emplace(device, static_cast<int>(devices_.size())).first->second;
  }
  int Stream(const TimelineSpan& span) {
    auto& streams = streams_[span.device];
    return streams.emplace(span.stream, static_cast<int>(streams.size())).first->second;
  }

 private:
  std::map<std::string, int> devices_;
  std::map<std::string, std::map<std::string, int>> streams_;
};

Json NameOf(const char* what, int pid, int tid, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
}

Json Event(const TimelineSpan& span, int pid, int tid, double start, double seconds) {
  const int64_t from = Nanos(start), to = Nanos(start + seconds);
  return {{"ph", "X"},
          {"cat", "Op"},
          {"name", span.op},
          {"pid", pid},
          {"tid", tid},
          {"ts", MicrosOf(from)},
          {"dur", MicrosOf(to - from)},
          {"args",
           {{"name", span.name},
            {"op", span.op},
            {"output", span.output},
            {"float_ops", span.float_ops},
            {"bytes", span.bytes}}}};
}

std::string Quoted(const std::string& text) { return Json(text).Line(); }

}  // namespace

std::string ChromeTrace(const Timeline& timeline) {
  Json events = Json::Array();
  Rows rows;
  std::map<std::pair<int, int>, bool> named;
  for (const TimelineSpan& span : timeline.spans) {
    const int measured = 2 * rows.Device(span.device), planned = measured + 1, row = rows.Stream(span);
    if (!named[{measured, -1}]) {
      events.push_back(NameOf("process_name", measured, 0, span.device + " Compute"));
      events.push_back(NameOf("process_name", planned, 0, span.device + " planned"));
      named[{measured, -1}] = true;
    }
    if (!named[{measured, row}]) {
      events.push_back(NameOf("thread_name", measured, row, span.stream));
      events.push_back(NameOf("thread_name", planned, row, span.stream + " (planned)"));
      named[{measured, row}] = true;
    }
    events.push_back(Event(span, measured, row, span.start, span.seconds));
    events.push_back(Event(span, planned, row, span.planned_start, span.planned_seconds));
  }
  Json trace;
  trace["traceEvents"] = std::move(events);
  return trace.Text();
}

std::string StepStatsText(const Timeline& timeline) {
  std::map<std::string, std::string> by_device;
  std::vector<std::string> order;
  for (const TimelineSpan& span : timeline.spans) {
    const std::string device = span.stream == "compute" ? span.device : span.device + "/stream:" + span.stream;
    if (by_device.find(device) == by_device.end()) order.push_back(device);
    by_device[device] += fmt::format(
        "  node_stats {{\n    node_name: {}\n    all_start_micros: {}\n    op_end_rel_micros: {}\n    "
        "all_end_rel_micros: {}\n"
        "    timeline_label: {}\n  }}\n",
        Quoted(span.name), Micros(span.start), Micros(span.seconds), Micros(span.seconds),
        Quoted(fmt::format("{} = {}({})", span.name, span.op, span.output)));
  }
  std::string text;
  for (const std::string& device : order)
    text += fmt::format("dev_stats {{\n  device: {}\n{}}}\n", Quoted(device), by_device[device]);
  return text;
}

}  // namespace muster
