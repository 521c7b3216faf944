// ResNet with basic blocks, for CIFAR-10 (He et al. 2015, section 4.2; v2: He et al. 2016).

#include "models/zoo.h"

namespace muster::zoo {
namespace {

// Option A of the paper: every stride-th position, and zeros for the new channels.
Output Shortcut(ModelBuilder& b, Output x, int64_t depth, int64_t stride) {
  const int64_t missing = depth - b.channels(x);
  if (missing == 0) return x;
  x = b.AvgPool(x, 1, 1, {.strides = {stride, stride}});
  return b.PadChannels(x, missing / 2, missing - missing / 2);
}

Output Block(ModelBuilder& b, Output x, int64_t depth, int64_t stride, bool pre_activation) {
  const Output shortcut = Shortcut(b, x, depth, stride);
  if (pre_activation) x = b.Relu(b.BatchNorm(x));
  x = b.Conv(x, depth, 3, 3, {.strides = {stride, stride}, .batch_norm = true, .bias = {}});
  x = b.Conv(x, depth, 3, 3, {.activation = LayerActivation::kLinear, .batch_norm = !pre_activation, .bias = {}});
  x = b.Add(shortcut, x);
  return pre_activation ? x : b.Relu(x);
}

}  // namespace

Output ResnetCifar(ModelBuilder& b, Output x, int blocks, ResnetVersion version) {
  const bool v2 = version == ResnetVersion::kV2;
  b.UseBatchNorm({.decay = 0.9, .epsilon = 1e-5, .scale = true});
  x = b.Conv(x, 16, 3, 3, {.activation = v2 ? LayerActivation::kRelu : LayerActivation::kLinear, .batch_norm = true});
  for (int64_t depth : {16, 32, 64})
    for (int i = 0; i < blocks; ++i) x = Block(b, x, depth, depth > 16 && i == 0 ? 2 : 1, v2);
  if (v2) x = b.Relu(b.BatchNorm(x));
  return b.SpatialMean(x);
}

Schedule ResnetCifarSchedule(const Model&, const RateContext& context) {
  const auto steps_per_epoch =
      static_cast<int64_t>(static_cast<double>(context.train_images) / context.images_per_step);
  schedules::Piecewise rule{{}, {0.1, 0.01, 0.001, 0.0002}};
  for (int64_t epoch : {82, 123, 300}) rule.boundaries.push_back(steps_per_epoch * epoch);
  return {rule};
}

}  // namespace muster::zoo
