#include "train/recipe.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace muster::train {
namespace {

// Turns epochs into steps.
class Steps {
 public:
  Steps(int64_t train_images, int64_t batch_size)
      : per_epoch_(static_cast<double>(train_images) / static_cast<double>(batch_size)) {}
  int64_t Of(double epochs) const { return std::max<int64_t>(std::llround(epochs * per_epoch_), 1); }

 private:
  double per_epoch_;
};

decltype(Schedule::rule) MakeRule(const ScheduleOptions& options, const Steps& steps, int64_t num_epochs) {
  const double rate = options.init_rate;
  const double decay_epochs = options.decay_epochs > 0 ? options.decay_epochs : static_cast<double>(num_epochs);
  if (options.kind == "constant") return schedules::Constant{rate};
  if (options.kind == "exponential" || options.kind == "staircase")
    return schedules::Exponential{rate, steps.Of(options.epochs_per_decay), options.decay_factor,
                                  options.kind == "staircase"};
  if (options.kind == "polynomial")
    return schedules::Polynomial{rate, steps.Of(decay_epochs), options.minimum_rate, options.power};
  if (options.kind == "cosine")
    return schedules::Cosine{rate, steps.Of(decay_epochs), rate > 0 ? options.minimum_rate / rate : 0};
  MUSTER_CHECK(options.kind == "piecewise");
  schedules::Piecewise rule{.rates = options.rates};
  for (const double epoch : options.boundaries) rule.boundaries.push_back(steps.Of(epoch));
  return rule;
}

}  // namespace

Schedule MakeSchedule(const ScheduleOptions& options, int64_t train_images, int64_t batch_size, int64_t num_epochs) {
  const Steps steps(train_images, batch_size);
  Schedule schedule{.rule = MakeRule(options, steps, num_epochs)};
  if (options.kind == "exponential" || options.kind == "staircase") schedule.minimum_rate = options.minimum_rate;
  if (options.warmup_epochs > 0) {
    schedule.warmup_steps = steps.Of(options.warmup_epochs);
    schedule.warmup_rate = options.init_rate;
  }
  CheckSchedule(schedule);
  return schedule;
}

std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions& options, LearningRate rate) {
  const AdamOptions adam{options.adam_beta1, options.adam_beta2, options.adam_epsilon};
  if (options.name == "sgd") return GradientDescentOptimizer(rate);
  if (options.name == "momentum") return MomentumOptimizer(rate, options.momentum);
  if (options.name == "nesterov") return MomentumOptimizer(rate, options.momentum, true);
  if (options.name == "rmsprop")
    return RMSPropOptimizer(
        rate,
        {.decay = options.rmsprop_decay, .momentum = options.rmsprop_momentum, .epsilon = options.rmsprop_epsilon});
  if (options.name == "adam") return AdamOptimizer(rate, adam);
  if (options.name == "adamw") return AdamWOptimizer(rate, options.weight_decay, adam);
  if (options.name == "adagrad") return AdagradOptimizer(rate);
  if (options.name == "adadelta") return AdadeltaOptimizer(rate);
  if (options.name == "ftrl") return FtrlOptimizer(rate);
  MUSTER_CHECK(options.name == "lars");
  return LarsOptimizer(rate, {.momentum = options.momentum, .weight_decay = options.weight_decay});
}

double L2Factor(const OptimizerOptions& options) {
  return options.name == "adamw" || options.name == "lars" ? 0 : options.weight_decay;
}

}  // namespace muster::train
