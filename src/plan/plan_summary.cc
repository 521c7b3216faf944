#include "plan/plan_summary.h"

#include <algorithm>

namespace muster {
namespace {

PlanSummary::Step SummarizeStep(const Step& step) {
  return {step.name, std::string(OpName(step.kind)), step.output_descs, std::max(step.send_channel, step.recv_channel)};
}

// Channels are named edge_<number>_<node> by the partitioner, so that names are unique.
std::string ValueOf(const ChannelSpec& channel) {
  const size_t second = channel.name.find('_', channel.name.find('_') + 1);
  return channel.name.substr(second + 1);
}

}  // namespace

PlanSummary Summarize(const Plan& plan) {
  PlanSummary summary;
  for (const Partition& partition : plan.partitions) {
    summary.partitions.push_back({partition.device.ToString(), {}});
    for (const Step& step : partition.steps) summary.partitions.back().steps.push_back(SummarizeStep(step));
  }
  auto device = [&](int partition) { return summary.partitions[static_cast<size_t>(partition)].device; };
  for (const ChannelSpec& channel : plan.channels)
    summary.transfers.push_back({ValueOf(channel), channel.output, channel.desc, channel.desc.byte_size(),
                                 device(channel.from), device(channel.to)});
  return summary;
}

}  // namespace muster
