#include "bench/train_graph.h"

#include <fmt/format.h>

#include "bench/strategy.h"
#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"

namespace muster::bench {
namespace {

// Whether there is nothing to train.
bool IsForwardOnly(const BenchParams& params) { return params.forward_only || params.eval; }

// Made once on each device and kept, as the peer does: images are truncated normal with mean 127 and deviation 60, not
// scaled.
Output SyntheticImages(const Scope& scope, const std::string& kept_as, int tower, const Shape& shape) {
  Output noise = ops::TruncatedNormal(scope, DType::kFloat32, shape);
  Output scaled = ops::Mul(scope, noise, ops::Scalar<float>(scope, 60));
  const std::string name = tower == 0 ? kept_as : fmt::format("{}_{}", kept_as, tower);
  return ops::MakeVariable(scope, name, ops::Add(scope, scaled, ops::Scalar<float>(scope, 127)), false);
}

// Drawn anew in every step, one class less than the model has.
Output SyntheticLabels(const Scope& scope, int64_t batch, int num_classes) {
  return ops::RandomUniformInt(scope.Named("synthetic_labels"), DType::kInt32, Shape{batch}, 0, num_classes - 1);
}

// Real data is fed on the host, from where it goes to the tower's device.
struct TowerInput {
  Output images, labels;
};
TowerInput FedInput(const Scope& scope, const Shape& shape) {
  const Scope host = scope.WithDevice("/cpu:0");
  return {ops::Placeholder(host.Named("images"), DType::kFloat32, shape),
          ops::Placeholder(host.Named("labels"), DType::kInt32, {shape[0]})};
}

// A tower of the zoo on synthetic data, which is kept in a variable of this name, or on real images, whose placeholders
// are added to "fed".
TowerBuilder ZooTower(const Derived& derived, int64_t batch, bool trains, const std::string& kept_as,
                      std::vector<Output>* fed) {
  const Model& model = FindModel(derived.model.name, derived.dataset.name);
  const int num_classes = FindDataset(derived.dataset.name).num_classes;
  const bool synthetic = derived.synthetic;
  return [&model, num_classes, batch, trains, kept_as, synthetic, fed](const Scope& scope, int tower,
                                                                       const TowerOptions& options) {
    const Scope input = scope.WithoutName().WithName(fmt::format("tower_{}/input", tower));
    const Shape shape{batch, model.image_size, model.image_size, 3};
    const auto [images, labels] = synthetic ? TowerInput{SyntheticImages(input, kept_as, tower, shape),
                                                         SyntheticLabels(input, batch, num_classes)}
                                            : FedInput(input, shape);
    if (!synthetic) fed->insert(fed->end(), {images, labels});
    const auto build = trains ? BuildTrainingTower : BuildEvaluationTower;
    return build(scope, model, images, labels, options);
  };
}

std::unique_ptr<Optimizer> MakeOptimizer(const BenchParams& params, Output rate) {
  if (params.optimizer == "momentum") return MomentumOptimizer(rate, params.momentum, true);
  if (params.optimizer == "rmsprop")
    return RMSPropOptimizer(rate, {params.rmsprop_decay, params.rmsprop_momentum, params.rmsprop_epsilon});
  if (params.optimizer == "adam")
    return AdamOptimizer(rate, {params.adam_beta1, params.adam_beta2, params.adam_epsilon});
  return GradientDescentOptimizer(rate);
}

TowerOptions TowerOptionsOf(const BenchParams& params, const OwnParams& own, const Derived& derived) {
  TowerOptions options;
  options.layers.dtype = params.use_fp16 ? DType::kFloat16 : own.use_bf16 ? DType::kBFloat16 : DType::kFloat32;
  options.layers.variable_dtype = params.use_fp16 && params.fp16_vars ? DType::kFloat16 : DType::kFloat32;
  options.layers.data_format = params.data_format == "NCHW" ? DataFormat::kNCHW : DataFormat::kNHWC;
  options.layers.phase_train = !IsForwardOnly(params);
  options.num_classes = FindDataset(derived.dataset.name).num_classes;
  options.weight_decay = {params.weight_decay, 1, params.single_l2_loss_op};
  return options;
}

}  // namespace

int64_t BytesPerImage(const Derived& derived) {
  const int64_t size = FindModel(derived.model.name, derived.dataset.name).image_size;
  return size * size * 3 * static_cast<int64_t>(sizeof(float));
}

std::unique_ptr<TrainGraph> BuildTrainGraph(const BenchParams& params, const OwnParams& own, const Derived& derived,
                                            int64_t batch) {
  std::vector<Output> fed, eval_fed;
  const TowerBuilder tower = ZooTower(derived, batch, !IsForwardOnly(params), "gpu_cached_inputs", &fed);
  TowerBuilder evaluation;
  if (derived.mode == Mode::kTrainingAndEvaluation)
    evaluation = ZooTower(derived, derived.eval_batch_size_per_device, false, "gpu_cached_inputs_eval", &eval_fed);
  auto built = BuildTrainGraphOf(params, own, derived, tower, evaluation);
  built->inputs = std::move(fed);
  built->eval_inputs = std::move(eval_fed);
  return built;
}

std::vector<Output> TrainGraph::feeds() const {
  std::vector<Output> all = {learning_rate};
  all.insert(all.end(), inputs.begin(), inputs.end());
  return all;
}

std::unique_ptr<TrainGraph> BuildTrainGraphOf(const BenchParams& params, const OwnParams& own, const Derived& derived,
                                              const TowerBuilder& tower, const TowerBuilder& eval_tower) {
  auto built = std::make_unique<TrainGraph>();
  built->graph = std::make_unique<Graph>();
  built->graph->set_seed(params.tf_random_seed);
  const Scope root(built->graph.get()), cpu = root.WithDevice("/cpu:0");
  const StrategyOptions strategy = StrategyOf(params, own, derived);
  const TowerOptions options = TowerOptionsOf(params, own, derived);
  built->learning_rate = ops::Placeholder(cpu.Named("learning_rate"), DType::kFloat32, Shape{});
  if (IsForwardOnly(params)) {
    built->towers = (params.eval ? BuildEvaluationTowers : BuildForwardTowers)(root, strategy, options, tower);
    // The peer's loss is a hard-coded 0 here.
    built->fetches = {ops::Scalar<float>(cpu, 0), built->towers.top_1_correct, built->towers.top_5_correct};
    return built;
  }
  const auto optimizer = [&] { return MakeOptimizer(params, built->learning_rate); };
  built->towers = BuildTrainingTowers(root, strategy, options, tower, optimizer, GlobalStep(cpu));
  const TowerSet& towers = built->towers;
  built->fetches = {params.loss_type_to_report == "base_loss" ? towers.base_loss : towers.total_loss};
  if (params.print_training_accuracy) {
    built->fetches.push_back(towers.top_1_correct);
    built->fetches.push_back(towers.top_5_correct);
  }
  built->targets = {towers.train_step};
  if (towers.prefill != kNoNode) built->prefill = {towers.prefill};
  if (!eval_tower) return built;
  const TowerSet evaluation = BuildEvaluationTowers(root.WithName("eval"), strategy, options, eval_tower);
  built->eval_fetches = {evaluation.top_1_correct, evaluation.top_5_correct};
  return built;
}

}  // namespace muster::bench
