#pragma once

#include <vector>

#include "muster/strategy.h"
#include "train/strategy/exchange.h"
#include "train/strategy/loss_scale.h"
#include "train/strategy/tower_variables.h"

namespace muster::train {

// From the towers' gradients to updated variables.
struct Updates {
  std::vector<NodeId> step;     // what a training step runs
  std::vector<NodeId> prefill;  // what one run before the first step does (staged variables)
};

// Weight decay that is part of the updates: rate * variable is added to the combined gradient of those that it covers.
struct UpdateDecay {
  double rate = 0;
  std::vector<bool> covers;  // by variable of a tower
  bool Covers(size_t variable) const { return variable < covers.size() && covers[variable]; }
};

// Variables that towers share: gradients meet where each variable lives, and are applied there once. With an automatic
// loss scale (else null) only in steps in which all of them are finite.
Updates UpdateShared(const Scope& scope, const StrategyOptions& strategy, const TowerVariables& variables,
                     const std::vector<Tower>& towers, const UpdateDecay& decay, const OptimizerFactory& make_optimizer,
                     LossScale* loss_scale = nullptr);

// Copies: gradients are exchanged unless the towers are independent, and every tower updates its own.
Updates UpdateCopies(const Scope& scope, const StrategyOptions& strategy, const std::vector<Tower>& towers,
                     const UpdateDecay& decay, const OptimizerFactory& make_optimizer, LossScale* loss_scale = nullptr);

// What a sum over the towers is multiplied by.
double ScaleOf(const StrategyOptions& strategy);

// The towers' gradients of variable number "index", zeros where a tower has none; empty if no tower has one.
Parts GradientParts(const Scope& scope, const StrategyOptions& strategy, const std::vector<Tower>& towers,
                    size_t index);

}  // namespace muster::train
