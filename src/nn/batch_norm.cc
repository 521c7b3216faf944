#include <algorithm>

#include "muster/layers.h"
#include "muster/ops/math.h"
#include "muster/ops/nn.h"
#include "muster/ops/state.h"
#include "nn/layer_library.h"

namespace muster {

// gamma, or ones that nothing trains.
Output ModelBuilder::ScaleOf(int64_t channels, bool trained) {
  const DType dtype = batch_norm_dtype();
  if (!trained) return ops::Fill(scope_.Named("ones"), dtype, {channels}, 1);
  return MakeVariable("gamma", dtype, {channels}, initializers::Ones(), true);
}

NodeId MoveAverage(const Scope& outer, Output moving, Output batch, double rate) {
  // Where the average lives, which may be another device than the batch's.
  const Scope scope = outer.WithName("AssignMovingAvg").ColocatedWith(moving.node);
  const Output difference = ops::Sub(scope, moving, batch);
  const Output step = ops::Mul(scope, difference, ops::ScalarLike(scope.Named("decay"), rate, scope.dtype(moving)));
  return ops::AssignSub(scope, moving, step).node;
}

void ModelBuilder::UpdateMovingAverage(Output moving, Output batch, double decay) {
  // TensorFlow keeps the decay as a float32 and subtracts it from one afterwards, in float64 models too.
  const double rate = 1.0 - static_cast<double>(static_cast<float>(decay));
  if (options_.move_average) return options_.move_average(scope_, moving, batch, rate);
  const NodeId update = MoveAverage(scope_, moving, batch, rate);
  update_ops_.push_back(update);
  scope_.graph()->AddUpdateOp(update);
}

struct ModelBuilder::NormInputs {
  Output x, gamma, beta, moving_mean, moving_variance;
};

// Two means over the towers: of their means, then of their variances around the common one, so that no digits are lost.
Output ModelBuilder::SynchronisedNorm(const NormInputs& in, const BatchNormConfig& config) {
  const DType dtype = batch_norm_dtype();
  const int64_t size = channels(in.x);
  const double n =
      static_cast<double>(scope_.shape(in.x).num_elements()) / static_cast<double>(std::max<int64_t>(size, 1));
  const double all = n * options_.num_towers;
  const auto times = [&](Output x, double factor) {
    return ops::Mul(scope_, x, ops::ScalarLike(scope_, factor, dtype));
  };
  BatchNormAttrs attrs;
  attrs.epsilon = config.epsilon;
  attrs.data_format = options_.data_format;
  const Output nothing = ops::Fill(scope_.Named("empty"), dtype, {0}, 0);
  const auto own =
      ops::FusedBatchNorm(scope_.Named("statistics"), in.x, ops::Fill(scope_.Named("ones"), dtype, {size}, 1),
                          ops::Fill(scope_.Named("zeros"), dtype, {size}, 0), nothing, nothing, attrs);
  const Output mean = options_.mean_over_towers(scope_, own.batch_mean);
  const Output shift = ops::Sub(scope_, own.batch_mean, mean);
  const Output around = ops::Add(scope_, times(own.batch_variance, (n - 1) / n), ops::Square(scope_, shift));
  const Output variance = options_.mean_over_towers(scope_, around);
  attrs.is_training = false;
  const auto outputs = ops::FusedBatchNorm(scope_, in.x, in.gamma, in.beta, mean, variance, attrs);
  if (options_.update_moving_averages) {
    UpdateMovingAverage(in.moving_mean, mean, config.decay);
    UpdateMovingAverage(in.moving_variance, times(variance, all / std::max(all - 1, 1.0)), config.decay);
  }
  return outputs.y;
}

Output ModelBuilder::BatchNorm(Output x, const BatchNormConfig& config, std::string_view name) {
  return Within(LayerScope(name, NamesOf(library_).batch_norm), [&] {
    const DType dtype = batch_norm_dtype();
    const int64_t size = channels(x);
    const Output gamma = ScaleOf(size, config.scale);
    const Output beta = MakeVariable("beta", dtype, {size}, initializers::Zeros(), true);
    const Output moving_mean = MakeVariable("moving_mean", dtype, {size}, initializers::Zeros(), false);
    const Output moving_variance = MakeVariable("moving_variance", dtype, {size}, initializers::Ones(), false);
    if (options_.phase_train && options_.mean_over_towers)
      return SynchronisedNorm({x, gamma, beta, moving_mean, moving_variance}, config);
    BatchNormAttrs attrs;
    attrs.epsilon = config.epsilon;
    attrs.is_training = options_.phase_train;
    attrs.data_format = options_.data_format;
    // Training takes nothing from the running averages: empty tensors stand in for them, as in TensorFlow.
    const Output nothing = options_.phase_train ? ops::Fill(scope_.Named("empty"), dtype, {0}, 0) : Output{};
    const Output mean = options_.phase_train ? nothing : moving_mean;
    const Output variance = options_.phase_train ? nothing : moving_variance;
    const auto outputs = ops::FusedBatchNorm(scope_, x, gamma, beta, mean, variance, attrs);
    if (options_.phase_train && options_.update_moving_averages) {
      UpdateMovingAverage(moving_mean, outputs.batch_mean, config.decay);
      UpdateMovingAverage(moving_variance, outputs.batch_variance, config.decay);
    }
    return outputs.y;
  });
}

}  // namespace muster
