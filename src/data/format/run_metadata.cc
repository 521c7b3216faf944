#include "data/format/run_metadata.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "data/format/proto/step_stats.pb.h"
#include "muster/error.h"

namespace muster::data {
namespace {

constexpr char kAllocator[] = "muster";

void Write(const NodeStats& node, step_stats::NodeExecStats* out) {
  out->set_node_name(node.name);
  out->set_timeline_label(node.label);
  out->set_scheduled_micros(node.start_micros);
  out->set_all_start_micros(node.start_micros);
  out->set_op_end_rel_micros(node.micros);
  out->set_all_end_rel_micros(node.micros);
  auto* memory = out->add_memory();
  memory->set_allocator_name(kAllocator);
  memory->set_total_bytes(node.output_bytes + node.workspace_bytes);
  memory->set_peak_bytes(node.output_bytes + node.workspace_bytes);
  if (node.workspace_bytes > 0) out->mutable_memory_stats()->set_temp_memory_size(node.workspace_bytes);
}

}  // namespace

std::string RunMetadataBytes(std::span<const NodeStats> nodes) {
  step_stats::RunMetadata message;
  std::map<std::string, int> number;  // of a device
  for (const NodeStats& node : nodes) {
    auto& devices = *message.mutable_step_stats()->mutable_dev_stats();
    const auto [at, is_new] = number.emplace(node.device, devices.size());
    if (is_new) devices.Add()->set_device(node.device);
    Write(node, devices[at->second].add_node_stats());
  }
  return message.SerializeAsString();
}

std::vector<NodeStats> ParseRunMetadata(const std::string& bytes, const std::string& where) {
  step_stats::RunMetadata message;
  if (!message.ParseFromString(bytes)) throw DataLoss(fmt::format("{}: is no RunMetadata", where));
  std::vector<NodeStats> nodes;
  for (const auto& device : message.step_stats().dev_stats())
    for (const auto& stats : device.node_stats()) {
      int64_t total = 0;
      for (const auto& memory : stats.memory()) total += memory.total_bytes();
      const int64_t workspace =
          std::clamp<int64_t>(stats.memory_stats().temp_memory_size(), 0, std::max<int64_t>(total, 0));
      nodes.push_back({device.device(), stats.node_name(), stats.timeline_label(), stats.all_start_micros(),
                       stats.all_end_rel_micros(), total - workspace, workspace});
    }
  return nodes;
}

}  // namespace muster::data
