#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compile/live_bytes.h"

namespace muster {

// What recomputation adds to a step.
struct Recomputation {
  int num_nodes = 0;
  double flops = 0;  // two per multiply-add, one per element of any other result
};

// Makes one device's arena smaller: results of the forward pass that the backward pass reads are dropped and computed
// again there. The cheapest bytes go first, by bytes saved per time lost: batch norms, activations and the like, then
// convolutions, so that in the end whole blocks between residual sums are computed again. Results of a training step
// are the same to the bit; no random operation and no update runs twice.
class Recomputer {
 public:
  // "order" is the graph's schedule. The graph, behind order_updates.cc, must outlive this and not change.
  Recomputer(const CompileGraph& graph, const CompileRequest& request, int device, const std::vector<NodeId>& order);
  ~Recomputer();

  // Chooses what to drop so that at most this much is live in the arena at any step, and no more than that needs. False
  // if nothing does; the choice is then the smallest found. Later calls, with smaller limits, go on from there.
  bool LowerTo(int64_t live_bytes);
  // Carries out the choice on a copy of the graph: nodes are cloned under the name "gradients/recompute/...", their
  // late readers read the clones, and control edges make a clone wait for what its first reader waits for.
  Recomputation Apply(CompileGraph& copy) const;

 private:
  class Chooser;

  LiveBytes live_;
  std::unique_ptr<Chooser> chooser_;
};

}  // namespace muster
