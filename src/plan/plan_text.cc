#include <fmt/format.h>

#include "plan/plan.h"

namespace muster {
namespace {

std::string PlaceText(const Place& p) {
  switch (p.region) {
    case Region::kNone: return "-";
    case Region::kArena: return fmt::format("a+{}", p.offset);
    case Region::kGradient: return fmt::format("g+{}", p.offset);
    case Region::kVariable: return fmt::format("v{}", p.index);
    case Region::kConstant: return fmt::format("c{}", p.index);
    case Region::kFeed: return fmt::format("f{}", p.index);
    case Region::kChannel: return fmt::format("x+{}", p.offset);
    case Region::kSeparate: return fmt::format("s{}", p.index);
  }
  return "?";
}

std::string Values(const std::vector<Place>& places, const std::vector<TensorDesc>& descs) {
  std::string text;
  for (size_t i = 0; i < places.size(); ++i)
    text +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", PlaceText(places[i]), i < descs.size() ? descs[i].ToString() : "");
  return text;
}

const char* StreamText(StreamKind kind) {
  switch (kind) {
    case StreamKind::kCompute: return "compute";
    case StreamKind::kCopyIn: return "copy-in";
    case StreamKind::kCopyOut: return "copy-out";
    case StreamKind::kExchange: return "exchange";
  }
  return "?";
}

// Where and when a step runs, for partitions with more than one stream and steps with events.
std::string OrderText(const Step& s, const Partition& p) {
  std::string text;
  if (p.streams.size() > 1 && s.recv_channel < 0)
    text += fmt::format(" on {}", StreamText(p.streams[static_cast<size_t>(s.stream)].kind));
  if (!s.waits.empty()) text += fmt::format(" after {}", fmt::join(s.waits, ","));
  if (!s.signals.empty()) text += fmt::format(" event {}", fmt::join(s.signals, ","));
  return text;
}

}  // namespace

std::string PlanToText(const Plan& plan) {
  std::string text;
  for (const Partition& p : plan.partitions) {
    text += fmt::format("{}: {} steps, arena {} bytes (lower bound {}), gradients {} bytes, channels {} bytes\n",
                        p.device.ToString(), p.steps.size(), p.arena_bytes, p.arena_lower_bound, p.gradient_bytes,
                        p.channel_bytes);
    for (size_t i = 0; i < p.steps.size(); ++i) {
      const Step& s = p.steps[i];
      text += fmt::format("  {:4} {} {}: ({}) -> ({}) workspace {}", i, OpName(s.kind), s.name,
                          Values(s.inputs, s.input_descs), Values(s.outputs, s.output_descs), PlaceText(s.workspace));
      if (s.send_channel >= 0) text += fmt::format(" send channel {}", s.send_channel);
      if (s.recv_channel >= 0) text += fmt::format(" receive channel {}", s.recv_channel);
      text += OrderText(s, p);
      text += "\n";
    }
  }
  for (size_t i = 0; i < plan.channels.size(); ++i) {
    const ChannelSpec& c = plan.channels[i];
    text += fmt::format("channel {}: {} {} from partition {} to {} at {}\n", i, c.name, c.desc.ToString(), c.from, c.to,
                        PlaceText(c.place));
  }
  return text;
}

}  // namespace muster
