#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "muster/exchange.h"
#include "muster/models.h"

namespace muster {

// How the towers of one process share variables (tf_cnn_benchmarks' --variable_update).
enum class VariableUpdate : uint8_t {
  kParameterServer,  // one set "v/…"; towers read it, their gradients meet on its devices, it is updated once
  kReplicated,   // a copy on each tower, "v0/…", "v1/…"; gradients are exchanged, every copy does the same update
  kIndependent,  // a copy on each tower; nothing is exchanged and copies drift apart
};

// What becomes of the towers' gradients. A mean makes N towers equal one tower with the N-fold batch. A sum is what
// tf_cnn_benchmarks does in its replicated mode.
enum class GradientCombine : uint8_t { kMean, kSum };

// Which batches move the running averages of batch norm, whose statistics are each tower's own: the first tower's, as
// in tf_cnn_benchmarks, or the mean of all towers' statistics (independent towers: each its own). Synchronised: all
// towers normalise with the statistics of the joined batch, so that N towers equal one tower with the N-fold batch;
// statistics and the sums of the backward pass are exchanged in each layer. Not for independent towers.
enum class BatchNormStatistics : uint8_t { kFirstTower, kMean, kSynchronised };

// A factor on the loss that keeps half-precision gradients from becoming zero, taken out of the gradients again before
// any exchange; variables "loss_scale" (float32) and "loss_scale_normal_steps" (int32). Automatic: a step whose
// gradients are all finite counts, and the step after "increase_every" counted ones doubles the factor; a step with one
// that is not halves it and changes no trained variable and no optimizer slot (running averages and the global step go
// on).
struct LossScaling {
  double initial = 1;  // 1 without "automatic": there is none
  bool automatic = false;
  int64_t increase_every = 1000;

  bool is_used() const { return automatic || initial != 1; }
};

struct StrategyOptions {
  VariableUpdate variable_update = VariableUpdate::kParameterServer;
  std::vector<std::string> tower_devices = {"/cpu:0"};
  // kParameterServer: where shared variables live. Empty: spread over the towers' devices, each variable to the one
  // that has the fewest elements so far.
  std::string parameter_device;
  GradientCombine combine = GradientCombine::kMean;
  BatchNormStatistics batch_norm_statistics = BatchNormStatistics::kFirstTower;
  // kParameterServer: towers compute with the weights as they were one step ago, and updates apply the gradients of one
  // step ago, so that both can travel beside the computation. Needs one run of TowerSet::prefill first.
  bool staged_variables = false;
  std::optional<double> gradient_clip;  // every element of a combined gradient to plus or minus this
  ExchangeOptions exchange;             // kReplicated
  LossScaling loss_scaling;

  int num_towers() const { return static_cast<int>(tower_devices.size()); }
  // The CPUs that take part: the towers' devices if these are CPUs, otherwise the first.
  std::vector<std::string> cpus() const;
};

// Builds tower number "tower" inside "scope", which carries its names and its device. "options" are the caller's, with
// the getter of variables, the weight decay and the running averages that this tower is to have.
using TowerBuilder = std::function<Tower(const Scope& scope, int tower, const TowerOptions& options)>;
// Makes one optimizer for each set of variables.
using OptimizerFactory = std::function<std::unique_ptr<Optimizer>()>;

// Towers side by side in one graph.
struct TowerSet {
  std::vector<Tower> towers;
  Output base_loss, total_loss;                // means over the towers, before the update
  Output top_1_correct, top_5_correct;         // sums over the towers
  Output loss_scale, loss_scale_normal_steps;  // variables, if LossScaling is used
  NodeId train_step = kNoNode;                 // done when all variables and running averages are updated
  NodeId prefill = kNoNode;                    // to be run once after the first values (staged_variables), or kNoNode
};

// Adds the towers, what combines their gradients, and the update. Weight decay is in the loss of the last tower, times
// the number of towers, as tf_cnn_benchmarks does it; its gradient is added to the combined one where that is applied,
// and so is not among the towers' (staged and relaxed updates, which come late, have it in the last tower's).
// Independent towers that are not to reproduce its sums decay their own. All copies of a variable start with the value
// of the first. Adds one to global_step (int64) if it is valid. Throws InvalidArgument for options that exclude each
// other, for a ring_order that is not one of all towers, and for towers whose variables differ.
TowerSet BuildTrainingTowers(const Scope& root, const StrategyOptions& strategy, const TowerOptions& options,
                             const TowerBuilder& build, const OptimizerFactory& make_optimizer,
                             Output global_step = {});

// The same without gradients and updates.
TowerSet BuildForwardTowers(const Scope& root, const StrategyOptions& strategy, const TowerOptions& options,
                            const TowerBuilder& build);

// The same for evaluations, alone in a graph or beside the training towers of one strategy, whose variables they share.
// Copies of a model that have batch norm all use the first copy's running averages, which are the ones that a
// checkpoint keeps.
TowerSet BuildEvaluationTowers(const Scope& root, const StrategyOptions& strategy, const TowerOptions& options,
                               const TowerBuilder& build);

// A batch, whose first axis counts its examples, in equal parts, one for each tower. Throws InvalidArgument, naming
// sizes that would fit, if it does not split evenly: a mean over unequal parts would not be the mean over the batch.
std::vector<Output> SplitBatch(const Scope& scope, Output batch, int num_towers);

// The mean over towers of each variable's gradients, computed where the variable lives: what in-graph towers with
// shared variables apply. towers[t] has one entry per variable, in the same order for all. A variable without a
// gradient in any tower has none in the result.
std::vector<GradientAndVariable> AverageGradients(const Scope& scope,
                                                  const std::vector<std::vector<GradientAndVariable>>& towers);

// The variables that a checkpoint of these towers keeps: the shared set or the first copy (all of them if independent),
// with optimizer slots and running averages; not what one run alone needs (cached inputs, staged and delayed values).
std::vector<Variable> SavedVariables(const Graph& graph, VariableUpdate variable_update);

}  // namespace muster
