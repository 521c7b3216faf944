// DenseNet for CIFAR-10 (Huang et al. 2016), without bottlenecks and compression; biases as in tf_cnn_benchmarks.

#include <cmath>

#include "models/zoo.h"

namespace muster::zoo {
namespace {

constexpr BatchNormConfig kBatchNorm{.decay = 0.9, .epsilon = 1e-5, .scale = true};

double Stddev(int64_t filters) { return std::sqrt(2.0 / 9 / static_cast<double>(filters)); }

Output NormRelu(ModelBuilder& b, Output x) { return b.Relu(b.BatchNorm(x, kBatchNorm)); }

// Adds "growth" channels to what is there.
Output DenseLayer(ModelBuilder& b, Output x, int64_t growth) {
  const Output added =
      b.Conv(NormRelu(b, x), growth, 3, 3, {.activation = LayerActivation::kLinear, .stddev = Stddev(growth)});
  return b.Concat({x, added});
}

// Between blocks. The paper keeps the number of channels; the public program takes it for twice the growth, and its
// parameter counts with it.
Output Transition(ModelBuilder& b, Output x, int64_t growth) {
  const int64_t filters = 2 * growth;
  return b.AvgPool(b.Conv(NormRelu(b, x), filters, 1, 1, {.stddev = Stddev(filters)}), 2, 2);
}

}  // namespace

Output Densenet(ModelBuilder& b, Output x, int layers_per_block, int64_t growth) {
  x = b.Conv(x, 16, 3, 3, {.activation = LayerActivation::kLinear});
  for (int block = 0; block < 3; ++block) {
    if (block > 0) x = Transition(b, x, growth);
    for (int i = 0; i < layers_per_block; ++i) x = DenseLayer(b, x, growth);
  }
  return b.SpatialMean(NormRelu(b, x));
}

Schedule DensenetSchedule(const Model&, const RateContext& context) {
  const auto steps_per_epoch =
      static_cast<int64_t>(static_cast<double>(context.train_images) / context.images_per_step);
  schedules::Piecewise rule{{}, {0.1, 0.01, 0.001, 0.0001}};
  for (int64_t epoch : {150, 225, 300}) rule.boundaries.push_back(steps_per_epoch * epoch);
  return {rule};
}

}  // namespace muster::zoo
