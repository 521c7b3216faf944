#include "train/strategy/combine.h"

#include <fmt/format.h>

#include "muster/ops/math.h"
#include "muster/ops/state.h"

namespace muster::train {
namespace {

Output Clipped(const Scope& scope, Output gradient, const StrategyOptions& strategy) {
  if (!strategy.gradient_clip) return gradient;
  return ops::ClipByValue(scope.WithName("clip"), gradient, -*strategy.gradient_clip, *strategy.gradient_clip);
}

// gradient + rate * variable, in the form that the compiler makes a part of the update.
Output Decayed(const Scope& outer, Output gradient, const Variable& variable, double rate) {
  const Scope scope = outer.WithName("weight_decay");
  const Output decay = ops::Mul(scope, variable, ops::ScalarLike(scope, rate, scope.dtype(variable)));
  return gradient.is_valid() ? ops::AddN(scope, {gradient, decay}) : decay;
}

// The combined gradient goes into a variable beside the one that it belongs to, and the one of the step before comes
// out.
Output StagedGradient(const Scope& scope, Output gradient, const Variable& variable, Updates* updates) {
  const std::string name = "staged/gradients/" + VariableName(*scope.graph(), variable);
  const VariableSpec spec{name, scope.dtype(gradient), scope.shape(gradient), initializers::Zeros(), false};
  const Variable kept = GetVariable(scope.WithoutName(), spec);
  const NodeId keep = ops::Assign(scope.Named("stage"), kept, gradient).node;
  updates->step.push_back(keep);
  updates->prefill.push_back(keep);
  return kept;
}

// Towers read the weights as they are before this step's update.
void StageVariables(const StrategyOptions& strategy, const Scope& scope, const TowerVariables& variables,
                    Updates* updates) {
  if (!strategy.staged_variables) return;
  for (const TowerVariables::Staged& staged : variables.staged()) {
    const Scope beside = scope.ColocatedWith(staged.copy.ref.node);
    const NodeId copy = ops::Assign(beside.Named("stage"), staged.copy, staged.original).node;
    updates->step.push_back(copy);
    updates->prefill.push_back(copy);
  }
}

// Gradients by variable, then tower; empty ones are left out of the exchange.
std::vector<Parts> ExchangedGradients(const Scope& scope, const StrategyOptions& strategy, std::vector<Parts> gradients,
                                      Updates* updates) {
  const bool is_alone = strategy.num_towers() == 1 && !strategy.exchange.relaxed;
  if (strategy.variable_update == VariableUpdate::kIndependent || is_alone) return gradients;
  std::vector<Parts> present;
  for (const Parts& parts : gradients)
    if (!parts.empty()) present.push_back(parts);
  const ExchangeContext context{scope.WithName("exchange"), strategy.tower_devices, ScaleOf(strategy), strategy.cpus()};
  Exchanged exchanged = ExchangeGradients(context, strategy.exchange, std::move(present));
  updates->step.insert(updates->step.end(), exchanged.also.begin(), exchanged.also.end());
  size_t next = 0;
  for (Parts& parts : gradients)
    if (!parts.empty()) parts = exchanged.gradients[next++];
  return gradients;
}

}  // namespace

double ScaleOf(const StrategyOptions& strategy) {
  return strategy.combine == GradientCombine::kMean ? 1.0 / strategy.num_towers() : 1.0;
}

Parts GradientParts(const Scope& scope, const StrategyOptions& strategy, const std::vector<Tower>& towers,
                    size_t index) {
  Parts parts;
  bool any = false;
  for (size_t t = 0; t < towers.size(); ++t) {
    Output gradient = towers[t].gradients[index];
    any |= gradient.is_valid();
    if (!gradient.is_valid()) {
      const Output like = towers[t].variables[index];
      gradient = ops::Fill(scope.WithDevice(strategy.tower_devices[t]), scope.dtype(like), scope.shape(like), 0);
    }
    parts.push_back(gradient);
  }
  return any ? parts : Parts{};
}

Updates UpdateShared(const Scope& scope, const StrategyOptions& strategy, const TowerVariables& variables,
                     const std::vector<Tower>& towers, const UpdateDecay& decay, const OptimizerFactory& make_optimizer,
                     LossScale* loss_scale) {
  Updates updates;
  const Scope combine = scope.WithName("combine");
  std::vector<GradientAndVariable> pairs;
  for (size_t i = 0; i < towers[0].variables.size(); ++i) {
    const Parts parts = GradientParts(combine, strategy, towers, i);
    if (parts.empty() && !decay.Covers(i)) continue;
    if (loss_scale != nullptr) loss_scale->Watch(parts);
    const Variable variable = variables.Updated(towers[0].variables[i]);
    const Scope beside = combine.ColocatedWith(variable.ref.node);
    Output gradient;
    if (!parts.empty()) gradient = towers.size() == 1 ? parts[0] : ScaledSum(beside, parts, ScaleOf(strategy));
    if (decay.Covers(i)) gradient = Decayed(beside, gradient, variable, decay.rate);
    if (strategy.staged_variables) gradient = StagedGradient(beside, gradient, variable, &updates);
    pairs.push_back({Clipped(beside, gradient, strategy), variable});
  }
  StageVariables(strategy, combine, variables, &updates);
  const auto apply = [&] { updates.step.push_back(make_optimizer()->ApplyGradients(scope, pairs)); };
  if (loss_scale != nullptr) loss_scale->Guard(apply, &updates.step);
  else apply();
  return updates;
}

Updates UpdateCopies(const Scope& scope, const StrategyOptions& strategy, const std::vector<Tower>& towers,
                     const UpdateDecay& decay, const OptimizerFactory& make_optimizer, LossScale* loss_scale) {
  Updates updates;
  std::vector<Parts> gradients;
  for (size_t i = 0; i < towers[0].variables.size(); ++i)
    gradients.push_back(GradientParts(scope, strategy, towers, i));
  gradients = ExchangedGradients(scope, strategy, std::move(gradients), &updates);
  const auto apply = [&] {
    for (size_t t = 0; t < towers.size(); ++t) {
      const Scope here = scope.WithDevice(strategy.tower_devices[t]);
      std::vector<GradientAndVariable> pairs;
      for (size_t i = 0; i < gradients.size(); ++i) {
        if (gradients[i].empty() && !decay.Covers(i)) continue;
        Output gradient = gradients[i].empty() ? Output{} : gradients[i][t];
        if (decay.Covers(i)) gradient = Decayed(here, gradient, towers[t].variables[i], decay.rate);
        pairs.push_back({Clipped(here, gradient, strategy), towers[t].variables[i]});
      }
      updates.step.push_back(make_optimizer()->ApplyGradients(here, pairs));
    }
  };
  if (loss_scale == nullptr) {
    apply();
    return updates;
  }
  // Exchanged gradients are the same on every tower; of independent towers the first decides, as in tf_cnn_benchmarks.
  for (const Parts& parts : gradients)
    if (!parts.empty()) loss_scale->Watch({parts[0]});
  loss_scale->Guard(apply, &updates.step);
  return updates;
}

}  // namespace muster::train
