#include "run/plan_timeline.h"

#include <algorithm>

#include "graph/flops.h"
#include "graph/op_def.h"

namespace muster {
namespace {

// Floating-point operations that take as long as moving one byte, on the processors and cards of these years. Only the
// weights of steps relative to each other depend on it.
constexpr double kFlopsPerByte = 10;

const char* StreamName(StreamKind kind) {
  switch (kind) {
    case StreamKind::kCompute: return "compute";
    case StreamKind::kCopyIn: return "copy-in";
    case StreamKind::kCopyOut: return "copy-out";
    case StreamKind::kExchange: return "exchange";
  }
  return "unknown";
}

int64_t MultiplyAddsOf(const Step& step) {
  Node node;
  node.kind = step.kind;
  node.attrs = step.attrs;
  node.outputs = step.output_descs;
  std::vector<Shape> inputs;
  for (const TensorDesc& desc : step.input_descs) inputs.push_back(desc.shape);
  return MultiplyAdds(node, inputs);
}

TimelineSpan SpanOf(const Partition& partition, const Step& step, const StepSpan& measured) {
  TimelineSpan span;
  span.name = step.name;
  span.op = OpName(step.kind);
  span.device = partition.device.ToString();
  span.stream = StreamName(partition.streams[static_cast<size_t>(step.stream)].kind);
  span.start = measured.start;
  span.seconds = measured.seconds;
  span.float_ops = 2 * MultiplyAddsOf(step);
  for (const TensorDesc& desc : step.input_descs) span.bytes += desc.byte_size();
  for (const TensorDesc& desc : step.output_descs) span.output_bytes += desc.byte_size();
  span.bytes += span.output_bytes;
  span.workspace_bytes = step.workspace_bytes;
  if (!step.output_descs.empty()) span.output = step.output_descs[0].ToString();
  span.planned_seconds = std::max(static_cast<double>(span.float_ops) / kFlopsPerByte, static_cast<double>(span.bytes));
  return span;
}

// Lets the planned spans begin as soon as their stream, and what they wait for, allow. Goes through the partitions so
// that each receive comes after its send.
class Planner {
 public:
  Planner(const Plan& plan, std::vector<std::vector<TimelineSpan>>& spans)
      : plan_(plan), spans_(spans), event_at_(plan.events.size(), 0), sent_at_(plan.channels.size(), -1) {}

  void Run() {
    std::vector<size_t> next(plan_.partitions.size(), 0);
    std::vector<std::vector<double>> free_at;
    for (const Partition& p : plan_.partitions) free_at.emplace_back(p.streams.size(), 0);
    for (bool has_moved = true; has_moved;) {
      has_moved = false;
      for (size_t p = 0; p < next.size(); ++p)
        while (next[p] < plan_.partitions[p].steps.size() && IsReady(plan_.partitions[p].steps[next[p]])) {
          Place(plan_.partitions[p].steps[next[p]], spans_[p][next[p]], free_at[p]);
          ++next[p];
          has_moved = true;
        }
    }
  }

 private:
  bool IsReady(const Step& step) const {
    return step.recv_channel < 0 || sent_at_[static_cast<size_t>(step.recv_channel)] >= 0;
  }

  void Place(const Step& step, TimelineSpan& span, std::vector<double>& free_at) {
    double& stream = free_at[static_cast<size_t>(step.stream)];
    double start = stream;
    for (int event : step.waits) start = std::max(start, event_at_[static_cast<size_t>(event)]);
    if (step.recv_channel >= 0) start = std::max(start, sent_at_[static_cast<size_t>(step.recv_channel)]);
    span.planned_start = start;
    stream = start + span.planned_seconds;
    for (int event : step.signals) event_at_[static_cast<size_t>(event)] = stream;
    if (step.send_channel >= 0) sent_at_[static_cast<size_t>(step.send_channel)] = stream;
  }

  const Plan& plan_;
  std::vector<std::vector<TimelineSpan>>& spans_;
  std::vector<double> event_at_, sent_at_;
};

// So that the planned seconds of all computation add up to the measured ones.
void Scale(std::vector<std::vector<TimelineSpan>>& spans) {
  double planned = 0, measured = 0;
  for (const auto& of_partition : spans)
    for (const TimelineSpan& span : of_partition) {
      if (span.stream != "compute" || span.op == "_Recv") continue;
      planned += span.planned_seconds;
      measured += span.seconds;
    }
  for (auto& of_partition : spans)
    for (TimelineSpan& span : of_partition) span.planned_seconds *= planned > 0 ? measured / planned : 0;
}

}  // namespace

Timeline MakeTimeline(const Plan& plan, const std::vector<std::vector<StepSpan>>& measured) {
  std::vector<std::vector<TimelineSpan>> spans(plan.partitions.size());
  for (size_t p = 0; p < spans.size(); ++p)
    for (size_t s = 0; s < plan.partitions[p].steps.size(); ++s) {
      const Step& step = plan.partitions[p].steps[s];
      spans[p].push_back(SpanOf(plan.partitions[p], step, measured[p][s]));
      if (step.recv_channel >= 0) spans[p].back().planned_seconds = 0;  // the copy is the sender's
    }
  Scale(spans);
  Planner(plan, spans).Run();
  Timeline timeline;
  for (auto& of_partition : spans)
    for (TimelineSpan& span : of_partition) timeline.spans.push_back(std::move(span));
  return timeline;
}

}  // namespace muster
