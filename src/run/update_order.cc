#include "run/update_order.h"

#include <algorithm>

namespace muster {

std::vector<size_t> FirstUpdates(const Plan& plan, bool from_gradients) {
  std::vector<size_t> firsts;
  for (const Partition& p : plan.partitions) {
    const auto first = std::find_if(p.steps.begin(), p.steps.end(), [&](const Step& step) {
      return step.phase == kUpdatePhase && (step.updates_from_gradient || !from_gradients);
    });
    firsts.push_back(static_cast<size_t>(first - p.steps.begin()));
  }
  return firsts;
}

std::vector<size_t> ReachedBefore(const Plan& plan, const std::vector<size_t>& stop) {
  std::vector<size_t> next(plan.partitions.size(), 0);
  std::vector<bool> is_sent(plan.channels.size(), false), is_recorded(plan.events.size(), false);
  const auto can_run = [&](const Step& step) {
    if (step.recv_channel >= 0 && !is_sent[static_cast<size_t>(step.recv_channel)]) return false;
    return std::all_of(step.waits.begin(), step.waits.end(),
                       [&](int event) { return is_recorded[static_cast<size_t>(event)]; });
  };
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (size_t p = 0; p < next.size(); ++p)
      for (const auto& steps = plan.partitions[p].steps; next[p] < stop[p] && can_run(steps[next[p]]);
           ++next[p], has_moved = true) {
        const Step& step = steps[next[p]];
        if (step.send_channel >= 0) is_sent[static_cast<size_t>(step.send_channel)] = true;
        for (int event : step.signals) is_recorded[static_cast<size_t>(event)] = true;
      }
  }
  return next;
}

}  // namespace muster
