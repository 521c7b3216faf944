#include "muster/strategy.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "muster/error.h"
#include "muster/ops/array.h"
#include "muster/ops/math.h"
#include "muster/ops/state.h"
#include "train/checkpoint_names.h"
#include "train/strategy/combine.h"

namespace muster {
namespace {

using train::Parts;
using train::TowerVariables;
using train::Updates;

// What the towers' batch-norm layers want to do to running averages, by tower, in the order of the layers.
struct BatchStatistic {
  Scope scope;
  Output moving, batch;
  double rate;
};

class TowerSetBuilder {
 public:
  TowerSetBuilder(const Scope& root, const StrategyOptions& strategy, const TowerOptions& options,
                  const TowerBuilder& build)
      : root_(root),
        strategy_(strategy),
        options_(options),
        build_(build),
        variables_(strategy_),
        statistics_(strategy.tower_devices.size()) {
    Check();
  }

  TowerSet Training(const OptimizerFactory& make_optimizer, Output global_step) {
    const Scope scope = root_.WithoutDevice();
    if (strategy_.loss_scaling.is_used()) {
      loss_scale_.emplace(scope, strategy_.loss_scaling);
      set_.loss_scale = loss_scale_->value();
      set_.loss_scale_normal_steps = loss_scale_->normal_steps();
    }
    BuildTowers();
    Report();
    train::LossScale* automatic = strategy_.loss_scaling.automatic ? &*loss_scale_ : nullptr;
    const bool shared = strategy_.variable_update == VariableUpdate::kParameterServer;
    Updates updates =
        shared ? train::UpdateShared(scope, strategy_, variables_, set_.towers, DecayOfUpdates(), make_optimizer,
                                     automatic)
               : train::UpdateCopies(scope, strategy_, set_.towers, DecayOfUpdates(), make_optimizer, automatic);
    for (const Tower& tower : set_.towers)
      updates.step.insert(updates.step.end(), tower.update_ops.begin(), tower.update_ops.end());
    MoveAveragesTogether(&updates);
    if (global_step.is_valid()) updates.step.push_back(Advance(scope, global_step));
    set_.train_step = ops::Group(scope.Named("train_step"), updates.step);
    if (!updates.prefill.empty()) set_.prefill = ops::Group(scope.Named("prefill"), updates.prefill);
    return std::move(set_);
  }

  TowerSet Evaluation() {
    variables_.ShareUntrained();
    return Forward();
  }

  TowerSet Forward() {
    BuildTowers();
    Report();
    return std::move(set_);
  }

 private:
  void Check() const {
    if (strategy_.num_towers() < 1) throw InvalidArgument("a strategy needs at least one tower");
    if (strategy_.loss_scaling.automatic && strategy_.staged_variables)
      throw InvalidArgument(
          "an automatic loss scale cannot go with staged variables, whose gradients are of the step before");
    if (strategy_.staged_variables && strategy_.variable_update != VariableUpdate::kParameterServer)
      throw InvalidArgument("staged variables need variables that the towers share (parameter_server)");
    if (strategy_.batch_norm_statistics == BatchNormStatistics::kSynchronised &&
        strategy_.variable_update == VariableUpdate::kIndependent)
      throw InvalidArgument(
          "independent towers cannot have synchronised batch-norm statistics: nothing else is exchanged between them");
    CheckRingOrder();
    CheckAllReduceSpec(strategy_.exchange.all_reduce_spec, strategy_.num_towers(),
                       static_cast<int>(strategy_.cpus().size()));
    if (strategy_.exchange.network_topology == NetworkTopology::kGcpV100 && strategy_.exchange.hierarchical_copy &&
        strategy_.num_towers() != 8)
      throw InvalidArgument(fmt::format("the gcp_v100 topology has 8 devices, not {}", strategy_.num_towers()));
  }

  void CheckRingOrder() const {
    const std::vector<int>& order = strategy_.exchange.ring_order;
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted.size() != static_cast<size_t>(strategy_.num_towers()) || sorted[i] != static_cast<int>(i))
        throw InvalidArgument(fmt::format("ring_order [{}] must name each of the towers 0 to {} once",
                                          fmt::join(order, ", "), strategy_.num_towers() - 1));
  }

  void BuildTowers() {
    for (int t = 0; t < strategy_.num_towers(); ++t) {
      const Scope scope =
          root_.WithName(fmt::format("tower_{}", t)).WithDevice(strategy_.tower_devices[static_cast<size_t>(t)]);
      set_.towers.push_back(build_(scope.WithVariableScope(variables_.ScopeName(t)), t, OptionsOf(t)));
      const Tower &tower = set_.towers.back(), &first = set_.towers[0];
      if (tower.variables.size() != first.variables.size() || tower.gradients.size() != first.gradients.size())
        throw InvalidArgument(fmt::format("tower {} has {} variables, tower 0 has {}: all must be built alike", t,
                                          tower.variables.size(), first.variables.size()));
    }
  }

  TowerOptions OptionsOf(int tower) {
    TowerOptions options = options_;
    options.layers.get_variable = variables_.GetterOf(tower);
    options.weight_decay = DecayOf(tower);
    if (loss_scale_) options.loss_scale = loss_scale_->value();
    if (strategy_.batch_norm_statistics == BatchNormStatistics::kSynchronised) {
      Synchronise(tower, &options.layers);
    } else if (strategy_.batch_norm_statistics == BatchNormStatistics::kFirstTower) {
      options.layers.update_moving_averages = options.layers.update_moving_averages && tower == 0;
    } else if (strategy_.variable_update != VariableUpdate::kIndependent && strategy_.num_towers() > 1) {
      options.layers.move_average = [this, tower](const Scope& scope, Output moving, Output batch, double rate) {
        statistics_[static_cast<size_t>(tower)].push_back({scope, moving, batch, rate});
      };
    }
    return options;
  }

  // All towers see the same statistics, so each set of variables follows them once.
  void Synchronise(int tower, BuilderOptions* layers) {
    const bool shared = strategy_.variable_update == VariableUpdate::kParameterServer;
    layers->update_moving_averages = layers->update_moving_averages && (tower == 0 || !shared);
    const int num_towers = strategy_.num_towers();
    if (num_towers == 1) return;
    layers->num_towers = num_towers;
    const std::string prefix = fmt::format("mean_over_towers_{}", first_node_);
    layers->mean_over_towers = [=, number = std::make_shared<int>(0)](const Scope& scope, Output x) {
      const std::string instance = fmt::format("{}_{}", prefix, (*number)++);
      return ops::CollectiveReduce(scope.Named("mean_over_towers"), x, instance, num_towers, tower, 1.0 / num_towers);
    };
  }

  // Decay of the weights as they are is the same in every tower, and cheapest as a part of the update. What is applied
  // late must contain the decay of the weights that it was computed with.
  bool DecaysInUpdates() const {
    const bool is_late = strategy_.variable_update == VariableUpdate::kReplicated ? strategy_.exchange.relaxed
                                                                                  : strategy_.staged_variables;
    return strategy_.num_towers() > 1 && strategy_.variable_update != VariableUpdate::kIndependent && !is_late;
  }

  train::UpdateDecay DecayOfUpdates() const {
    const double rate = options_.weight_decay.rate * strategy_.num_towers() * train::ScaleOf(strategy_);
    train::UpdateDecay decay{rate, {}};
    for (const Variable& variable : set_.towers.back().variables)
      decay.covers.push_back(decayed_.count(variable.ref) > 0);
    return decay;
  }

  WeightDecay DecayOf(int tower) {
    WeightDecay decay = options_.weight_decay;
    const bool each_its_own =
        strategy_.variable_update == VariableUpdate::kIndependent && strategy_.combine == GradientCombine::kMean;
    decay.num_towers = each_its_own ? 1 : strategy_.num_towers();
    if (!each_its_own && tower != strategy_.num_towers() - 1) decay.rate = 0;
    if (DecaysInUpdates()) decay.defer = [this](const Variable& variable) { decayed_.insert(variable.ref); };
    return decay;
  }

  // Losses and counts of all towers.
  void Report() {
    const Scope scope = root_.WithName("report").WithDevice("/cpu:0");
    const auto over_towers = [&](Output Tower::*member, double scale) {
      Parts parts;
      for (const Tower& tower : set_.towers) parts.push_back(tower.*member);
      if (!std::all_of(parts.begin(), parts.end(), [](Output o) { return o.is_valid(); })) return Output{};
      return parts.size() == 1 ? parts[0] : train::ScaledSum(scope, parts, scale);
    };
    const double mean = 1.0 / strategy_.num_towers();
    set_.base_loss = over_towers(&Tower::base_loss, mean);
    set_.total_loss = over_towers(&Tower::total_loss, mean);
    set_.top_1_correct = over_towers(&Tower::top_1_correct, 1);
    set_.top_5_correct = over_towers(&Tower::top_5_correct, 1);
  }

  // Moves every running average once, by the mean of the towers' statistics.
  void MoveAveragesTogether(Updates* updates) {
    for (size_t i = 0; i < statistics_[0].size(); ++i) {
      Parts batches;
      for (const auto& of_tower : statistics_) batches.push_back(of_tower[i].batch);
      const Output mean = train::ScaledSum(statistics_[0][i].scope, batches, 1.0 / strategy_.num_towers());
      std::set<Output> moved;
      for (const auto& of_tower : statistics_) {
        const BatchStatistic& s = of_tower[i];
        if (!moved.insert(s.moving).second) continue;
        updates->step.push_back(MoveAverage(s.scope, s.moving, mean, s.rate));
      }
    }
  }

  // Needs to wait for nothing: whoever reads the counter in this step reads it as it was.
  static NodeId Advance(const Scope& scope, Output global_step) {
    const Scope beside = scope.ColocatedWith(global_step.node);
    return ops::AssignAdd(beside, global_step, ops::ScalarLike(beside.Named("one"), 1, scope.dtype(global_step))).node;
  }

  const Scope root_;
  const StrategyOptions strategy_;
  const TowerOptions options_;
  const TowerBuilder& build_;
  const NodeId first_node_ = root_.graph()->num_nodes();  // tells several sets of towers in one graph apart
  TowerVariables variables_;
  std::optional<train::LossScale> loss_scale_;
  std::vector<std::vector<BatchStatistic>> statistics_;
  std::set<Output> decayed_;  // variables of the last tower whose updates decay them
  TowerSet set_;
};

}  // namespace

std::vector<std::string> StrategyOptions::cpus() const {
  const auto is_cpu = [](const std::string& device) { return DeviceName::Parse(device).type == "CPU"; };
  return std::all_of(tower_devices.begin(), tower_devices.end(), is_cpu) ? tower_devices
                                                                         : std::vector<std::string>{"/cpu:0"};
}

namespace {

// What does not train has no gradients that could come late.
StrategyOptions WithoutDelays(StrategyOptions strategy) {
  strategy.staged_variables = false;
  strategy.exchange.relaxed = false;
  return strategy;
}

}  // namespace

TowerSet BuildTrainingTowers(const Scope& root, const StrategyOptions& strategy, const TowerOptions& options,
                             const TowerBuilder& build, const OptimizerFactory& make_optimizer, Output global_step) {
  return TowerSetBuilder(root, strategy, options, build).Training(make_optimizer, global_step);
}

TowerSet BuildForwardTowers(const Scope& root, const StrategyOptions& strategy, const TowerOptions& options,
                            const TowerBuilder& build) {
  return TowerSetBuilder(root, WithoutDelays(strategy), options, build).Forward();
}

TowerSet BuildEvaluationTowers(const Scope& root, const StrategyOptions& strategy, const TowerOptions& options,
                               const TowerBuilder& build) {
  return TowerSetBuilder(root, WithoutDelays(strategy), options, build).Evaluation();
}

std::vector<GradientAndVariable> AverageGradients(const Scope& scope,
                                                  const std::vector<std::vector<GradientAndVariable>>& towers) {
  std::vector<GradientAndVariable> averaged;
  for (size_t i = 0; !towers.empty() && i < towers[0].size(); ++i) {
    const Variable variable = towers[0][i].variable;
    Parts parts;
    for (const auto& tower : towers) {
      if (tower.size() != towers[0].size() || !(tower[i].variable.ref == variable.ref))
        throw InvalidArgument("the towers' lists of gradients must name the same variables in the same order");
      if (tower[i].gradient.is_valid()) parts.push_back(tower[i].gradient);
    }
    const Scope beside = scope.WithName("average").ColocatedWith(variable.ref.node);
    averaged.push_back(
        {parts.empty() ? Output{} : train::ScaledSum(beside, parts, 1.0 / static_cast<double>(towers.size())),
         variable});
  }
  return averaged;
}

std::vector<Output> SplitBatch(const Scope& scope, Output batch, int num_towers) {
  const Shape& shape = scope.shape(batch);
  if (num_towers < 1) throw InvalidArgument("a batch is split among at least one tower");
  if (shape.rank() == 0) throw InvalidArgument("a scalar is no batch: its first axis is to be split among the towers");
  if (const int64_t rest = shape[0] % num_towers; rest != 0) {
    const int64_t less = shape[0] - rest, more = less + num_towers;
    throw InvalidArgument(fmt::format("a batch of {} does not split evenly among {} towers; {}{} would", shape[0],
                                      num_towers, less > 0 ? fmt::format("{} or ", less) : "", more));
  }
  return ops::Split(scope, batch, 0, num_towers);
}

std::vector<Variable> SavedVariables(const Graph& graph, VariableUpdate variable_update) {
  std::map<Output, NodeId> initializers;
  for (const VariableInfo& info : graph.variables()) initializers.emplace(info.ref, info.initializer);
  std::set<std::string> names;  // of copies that are equal the first is saved
  std::vector<Variable> saved;
  for (const SavedVariable& variable :
       train::CheckpointVariables(graph, variable_update == VariableUpdate::kReplicated))
    if (names.insert(variable.name).second) saved.push_back({variable.ref, initializers.at(variable.ref)});
  return saved;
}

}  // namespace muster
