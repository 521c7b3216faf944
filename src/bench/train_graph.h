#pragma once

#include <memory>
#include <vector>

#include "bench/derived.h"
#include "muster/strategy.h"

namespace muster::bench {

// The graph of one benchmark step: on each device a tower with its synthetic images and labels, or with real ones that
// are fed; the losses of all, and the update. With --forward_only and --eval without the update, and the loss is 0.
struct TrainGraph {
  std::unique_ptr<Graph> graph;
  Output learning_rate;         // fed: a float32 scalar
  std::vector<Output> inputs;   // fed, with --data_dir: for each tower in turn its images and its labels
  std::vector<Output> fetches;  // the reported loss; then, if wanted, the counts of top-1 and top-5, of all towers
  std::vector<NodeId> targets;  // the training step
  std::vector<NodeId> prefill;  // to be run once after the first values
  TowerSet towers;
  // With --eval_during_training_*: counts of top-1 and top-5 in a batch of validation images, of all towers; they share
  // the towers' variables.
  std::vector<Output> eval_fetches;
  std::vector<Output> eval_inputs;  // fed to them, with --data_dir

  // All that is fed: the rate, then the inputs.
  std::vector<Output> feeds() const;
};

// Bytes of one input image.
int64_t BytesPerImage(const Derived& derived);

// Builds it for "batch" images per device. Throws what the model's builder throws.
std::unique_ptr<TrainGraph> BuildTrainGraph(const BenchParams& params, const OwnParams& own, const Derived& derived,
                                            int64_t batch);

// The same around towers of the caller's own: a model that is not in the zoo, with inputs of its own. "eval_tower" is
// for evaluations during training.
std::unique_ptr<TrainGraph> BuildTrainGraphOf(const BenchParams& params, const OwnParams& own, const Derived& derived,
                                              const TowerBuilder& tower, const TowerBuilder& eval_tower = {});

}  // namespace muster::bench
