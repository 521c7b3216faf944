// Lower, then see whether the plan fits; if not, recompute and lower again. How large an arena becomes is known only
// when it is planned, so each attempt aims lower by what the one before was off.

#include <algorithm>
#include <map>
#include <memory>

#include "compile/passes.h"
#include "compile/recompute.h"

namespace muster {
namespace {

constexpr int kAttempts = 4;

// Memory that one limit holds for: one device's, or all that is the host's.
struct Pool {
  std::vector<int> devices;
  int64_t limit = 0;
};

std::vector<Pool> Pools(const CompileRequest& request) {
  std::vector<Pool> pools;
  if (request.recompute == Recompute::kMost) {
    for (int d = 0; d < static_cast<int>(request.devices.size()); ++d) pools.push_back({{d}, 0});
    return pools;
  }
  Pool host{{}, request.host_memory_limit};
  for (int d = 0; d < static_cast<int>(request.devices.size()); ++d) {
    const CompileDevice& device = request.devices[static_cast<size_t>(d)];
    if (device.uses_host_memory) host.devices.push_back(d);
    if (device.memory_limit > 0) pools.push_back({{d}, device.memory_limit});
  }
  if (host.limit > 0) pools.push_back(std::move(host));
  return pools;
}

const Partition* PartitionOf(const Plan& plan, int device) {
  for (const Partition& p : plan.partitions)
    if (p.device_index == device) return &p;
  return nullptr;
}

const DeviceBytes& BytesOf(const Plan& plan, int device) { return plan.stats.devices[static_cast<size_t>(device)]; }

// Bytes above the limit, of all pools.
int64_t Overrun(const Plan& plan, const std::vector<Pool>& pools) {
  int64_t overrun = 0;
  for (const Pool& pool : pools) {
    int64_t bytes = 0;
    for (int device : pool.devices) bytes += BytesOf(plan, device).peak_bytes;
    overrun += std::max<int64_t>(0, bytes - pool.limit);
  }
  return overrun;
}

// How large each device's arena may be; recomputation changes nothing else. Devices that share memory get shares of
// what is left, in proportion to what they need.
std::map<int, int64_t> ArenaLimits(const Plan& plan, const std::vector<Pool>& pools) {
  std::map<int, int64_t> limits;
  for (const Pool& pool : pools) {
    double left = static_cast<double>(pool.limit), needed = 0;
    for (int device : pool.devices) {
      const DeviceBytes& bytes = BytesOf(plan, device);
      left -= static_cast<double>(bytes.peak_bytes - bytes.arena_bytes);
      needed += static_cast<double>(bytes.arena_bytes);
    }
    if (needed <= left || needed == 0) continue;
    for (int device : pool.devices)
      if (const int64_t bytes = BytesOf(plan, device).arena_bytes; bytes > 0) {
        const auto share = static_cast<int64_t>(std::max(left, 0.0) / needed * static_cast<double>(bytes));
        const auto [limit, is_first] = limits.emplace(device, share);
        if (!is_first) limit->second = std::min(limit->second, share);
      }
  }
  return limits;
}

}  // namespace

Plan LowerToFit(CompileGraph& graph, const std::vector<ChannelSpec>& channels, const CompileRequest& request) {
  const std::vector<Pool> pools = Pools(request);
  Plan best = Lower(graph, channels, request);
  int64_t least = Overrun(best, pools);
  if (least == 0) return best;
  const CompileGraph original = graph;
  const std::vector<NodeId> order = original.TopologicalOrder();
  const std::map<int, int64_t> limits = ArenaLimits(best, pools);
  std::map<int, int64_t> targets = limits;
  std::map<int, std::unique_ptr<Recomputer>> recomputers;
  for (const auto& [device, limit] : limits)
    recomputers[device] = std::make_unique<Recomputer>(original, request, device, order);
  bool can_improve = true;
  for (int attempt = 0; attempt < kAttempts && least > 0 && can_improve; ++attempt) {
    CompileGraph changed = original;
    Recomputation total;
    can_improve = false;
    for (const auto& [device, recomputer] : recomputers) {
      can_improve |= recomputer->LowerTo(targets.at(device));
      const Recomputation done = recomputer->Apply(changed);
      total.num_nodes += done.num_nodes;
      total.flops += done.flops;
    }
    Plan plan = Lower(changed, channels, request);
    plan.stats.num_recomputed = total.num_nodes;
    plan.stats.recompute_flops = total.flops;
    for (auto& [device, target] : targets)
      if (const int64_t over = BytesOf(plan, device).arena_bytes - limits.at(device); over > 0)
        target = PartitionOf(plan, device)->arena_lower_bound - over;
    const int64_t overrun = Overrun(plan, pools);
    if (overrun >= least) continue;
    least = overrun;
    best = std::move(plan);
    graph = std::move(changed);
  }
  return best;
}

}  // namespace muster
