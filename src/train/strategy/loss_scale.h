#pragma once

#include <functional>
#include <vector>

#include "muster/strategy.h"
#include "train/strategy/parts.h"

namespace muster::train {

// The loss scale of a set of towers: its variables, and what an automatic one does to the updates. Lives while they are
// built.
class LossScale {
 public:
  // Makes the variables, on the first CPU.
  LossScale(const Scope& scope, const LossScaling& options);

  Output value() const { return scale_; }
  Output normal_steps() const { return normal_steps_; }

  // Gradients without the scale that have to be finite for the step's updates to take place.
  void Watch(const Parts& gradients);
  // Calls "apply", which adds the updates of variables; they take place only if everything that was watched is finite.
  // Adds the nodes that then change the scale to "step".
  void Guard(const std::function<void()>& apply, std::vector<NodeId>* step);

 private:
  Output AllFinite() const;
  void Change(Output finite, std::vector<NodeId>* step) const;

  const Scope scope_;
  const LossScaling options_;
  Variable scale_, normal_steps_;
  Parts zeros_;  // of each watched gradient: 0, or NaN
};

}  // namespace muster::train
