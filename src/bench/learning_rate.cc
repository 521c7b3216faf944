#include "bench/learning_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/flags.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

constexpr double kMaxSteps = 9e18;  // fits int64

std::vector<std::string> SplitAtSemicolons(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ';') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Error Bad(const char* what, const std::string& part) {
  return InvalidArgument(fmt::format("--piecewise_learning_rate_schedule: {}: {}", what, part));
}

// One part of the schedule; after the flag, the peer's words for what is wrong with it.
double ParseRate(const std::string& part) {
  const FlagSpec spec{.name = "piecewise_learning_rate_schedule", .type = FlagType::kFloat};
  try {
    return std::get<double>(ParseFlagValue(spec, part));
  } catch (const Error&) {
    throw Bad("Invalid learning rate", part);
  }
}

int64_t ParseEpoch(const std::string& part) {
  const FlagSpec spec{.name = "piecewise_learning_rate_schedule", .type = FlagType::kInteger};
  try {
    return std::get<int64_t>(ParseFlagValue(spec, part));
  } catch (const Error&) {
    throw Bad("Invalid epoch", part);
  }
}

schedules::Piecewise ParsePiecewise(const BenchParams& params, double steps_per_epoch) {
  if (params.init_learning_rate || params.learning_rate_decay_factor != 0 || params.minimum_learning_rate != 0 ||
      params.num_epochs_per_decay != 0) {
    throw InvalidArgument(
        "--piecewise_learning_rate_schedule excludes --init_learning_rate, --learning_rate_decay_factor, "
        "--num_epochs_per_decay and --minimum_learning_rate");
  }
  const std::vector<std::string> parts = SplitAtSemicolons(*params.piecewise_learning_rate_schedule);
  if (parts.size() % 2 == 0) {
    throw InvalidArgument("--piecewise_learning_rate_schedule must have an odd number of components");
  }
  schedules::Piecewise rule;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i % 2 == 0) {
      rule.rates.push_back(ParseRate(parts[i]));
      if (rule.rates.back() < 0) throw Bad("negative learning rate", parts[i]);
      continue;
    }
    const double steps = static_cast<double>(ParseEpoch(parts[i])) * steps_per_epoch;
    const int64_t boundary = static_cast<int64_t>(std::clamp(steps, -kMaxSteps, kMaxSteps)) - 1;
    if (!rule.boundaries.empty() && boundary <= rule.boundaries.back()) {
      throw InvalidArgument(
          fmt::format("--piecewise_learning_rate_schedule: epoch {} must lie after the one before it", parts[i]));
    }
    rule.boundaries.push_back(boundary);
  }
  return rule;
}

// --init_learning_rate, with its staircase decay if both decay flags are set.
Schedule InitialRate(const BenchParams& params, double steps_per_epoch) {
  const double rate = *params.init_learning_rate;
  if (params.num_epochs_per_decay <= 0 || params.learning_rate_decay_factor <= 0) return {schedules::Constant{rate}};
  const auto steps = static_cast<int64_t>(std::min(steps_per_epoch * params.num_epochs_per_decay, kMaxSteps));
  if (steps < 1) {
    throw InvalidArgument(fmt::format("flag --num_epochs_per_decay={}: must be at least one step, which is {} epochs",
                                      PythonFloat(params.num_epochs_per_decay), 1 / steps_per_epoch));
  }
  return {.rule = schedules::Exponential{rate, steps, params.learning_rate_decay_factor, true},
          .minimum_rate = params.minimum_learning_rate};
}

Schedule ModelsOwn(const BenchParams& params, const Model& model, int64_t train_images, int64_t images_per_step,
                   int summed_towers) {
  RateContext context;
  context.images_per_step = static_cast<double>(images_per_step);
  context.train_images = train_images;
  context.summed_towers = summed_towers;
  context.resnet_base_lr = params.resnet_base_lr.value_or(0);
  return model.DefaultSchedule(context);
}

}  // namespace

Schedule MakeSchedule(const BenchParams& params, const Model& model, int64_t train_images, int64_t images_per_step,
                      int summed_towers) {
  const double steps_per_epoch = static_cast<double>(train_images) / static_cast<double>(images_per_step);
  Schedule schedule;
  double first_rate = 0;
  if (!params.piecewise_learning_rate_schedule.value_or("").empty()) {
    schedules::Piecewise rule = ParsePiecewise(params, steps_per_epoch);
    first_rate = rule.rates[0];
    schedule.rule = std::move(rule);
  } else if (params.init_learning_rate) {
    schedule = InitialRate(params, steps_per_epoch);
    first_rate = *params.init_learning_rate;
  } else {
    return ModelsOwn(params, model, train_images, images_per_step, summed_towers);
  }
  if (params.num_learning_rate_warmup_epochs > 0) {
    const double steps = std::min(steps_per_epoch * params.num_learning_rate_warmup_epochs, kMaxSteps);
    schedule.warmup_steps = static_cast<int64_t>(steps);
    schedule.warmup_rate = first_rate;
  }
  return schedule;
}

}  // namespace muster::bench
