// What a plan needs of each device, and what it does there.

#include "base/bytes.h"
#include "compile/passes.h"

namespace muster {
namespace {

// The block that a device's allocator gives for a request: 256 is the BFC allocator's unit.
int64_t BlockBytes(int64_t bytes) { return RoundUp(bytes, 256); }

void AddPartition(const Partition& partition, DeviceBytes* bytes) {
  bytes->gradient_bytes = partition.gradient_bytes;
  bytes->arena_bytes = partition.arena_bytes;
  bytes->channel_bytes = partition.channel_bytes;
  for (const Tensor& c : partition.constants) bytes->constant_bytes += AlignUp(static_cast<int64_t>(c.byte_size()));
  for (int64_t block : {bytes->gradient_bytes, bytes->arena_bytes, bytes->channel_bytes, bytes->constant_bytes})
    bytes->peak_bytes += BlockBytes(block);
}

std::vector<DeviceBytes> BytesOfDevices(const Plan& plan, const CompileGraph& graph, const CompileRequest& request) {
  std::vector<DeviceBytes> devices(request.devices.size());
  const auto variables = request.variables->ByDevice(static_cast<int>(devices.size()));
  for (size_t d = 0; d < devices.size(); ++d) {
    devices[d].device = request.devices[d].name.ToString();
    devices[d].variable_bytes = request.variables->BytesOf(variables[d]);
    devices[d].peak_bytes = BlockBytes(devices[d].variable_bytes);
  }
  for (const Partition& p : plan.partitions) AddPartition(p, &devices[static_cast<size_t>(p.device_index)]);
  for (Output feed : graph.feeds()) {
    DeviceBytes& device = devices[static_cast<size_t>(graph.device(feed.node))];
    device.feed_bytes += AlignUp(graph.desc(feed).byte_size());
    device.peak_bytes += BlockBytes(graph.desc(feed).byte_size());
  }
  return devices;
}

}  // namespace

void CountBytes(Plan& plan, const CompileGraph& graph, const CompileRequest& request) {
  PlanStats& stats = plan.stats;
  stats.devices = BytesOfDevices(plan, graph, request);
  for (const DeviceBytes& bytes : stats.devices) {
    stats.variable_bytes += bytes.variable_bytes;
    stats.gradient_bytes += bytes.gradient_bytes;
    stats.arena_bytes += bytes.arena_bytes;
    stats.channel_bytes += bytes.channel_bytes;
    stats.constant_bytes += bytes.constant_bytes;
    stats.feed_bytes += bytes.feed_bytes;
  }
  for (const Partition& p : plan.partitions) stats.arena_lower_bound += p.arena_lower_bound;
  stats.peak_bytes = stats.variable_bytes + stats.gradient_bytes + stats.arena_bytes + stats.channel_bytes +
                     stats.constant_bytes + stats.feed_bytes;
}

void CountSteps(Plan& plan) {
  for (const Partition& p : plan.partitions) {
    plan.stats.num_steps += static_cast<int>(p.steps.size());
    for (const Step& step : p.steps) {
      ++plan.stats.steps_by_op[std::string(OpName(step.kind))];
      if (step.kind == OpKind::k_Reorder) ++plan.stats.num_reorders;
    }
  }
}

}  // namespace muster
