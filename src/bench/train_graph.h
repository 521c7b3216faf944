#pragma once

#include <memory>
#include <vector>

#include "bench/derived.h"
#include "muster/graph.h"

namespace muster::bench {

// The graph of one benchmark step: synthetic images and labels, the model, its loss and its update.
struct TrainGraph {
  std::unique_ptr<Graph> graph;
  Output learning_rate;             // fed: a float32 scalar
  std::vector<Output> fetches;      // the reported loss; then, if wanted, the counts of top-1 and top-5
  std::vector<NodeId> targets;      // the training step
};

// Bytes of one input image.
int64_t BytesPerImage(const Derived& derived);

// Builds it for "batch" images per device. Throws what the model's builder throws.
std::unique_ptr<TrainGraph> BuildTrainGraph(const BenchParams& params, const Derived& derived, int64_t batch);

}  // namespace muster::bench
