#include "bench/learning_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/flags.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

constexpr double kResnetImages = 256;  // batch size for which a ResNet's base rate holds
constexpr int kResnetWarmupEpochs = 5;

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

// One part of the schedule; the peer's words for what is wrong with it.
double ParseRate(const std::string& part) {
  const FlagSpec spec{.name = "piecewise_learning_rate_schedule", .type = FlagType::kFloat};
  try {
    return std::get<double>(ParseFlagValue(spec, part));
  } catch (const Error&) {
    throw InvalidArgument(fmt::format("Invalid learning rate: {}", part));
  }
}

int64_t ParseEpoch(const std::string& part) {
  const FlagSpec spec{.name = "piecewise_learning_rate_schedule", .type = FlagType::kInteger};
  try {
    return std::get<int64_t>(ParseFlagValue(spec, part));
  } catch (const Error&) {
    throw InvalidArgument(fmt::format("Invalid epoch: {}", part));
  }
}

}  // namespace

LearningRate::LearningRate(const BenchParams& params, const ModelRate& model, int64_t train_images,
                           int64_t images_per_step) {
  const double steps_per_epoch = static_cast<double>(train_images) / static_cast<double>(images_per_step);
  const bool piecewise = !params.piecewise_learning_rate_schedule.value_or("").empty();
  if (piecewise) {
    SetPiecewise(params, steps_per_epoch);
  } else if (params.init_learning_rate) {
    SetInitial(params, steps_per_epoch);
  } else {
    SetModel(params, model, train_images, images_per_step);
  }
  if (params.num_learning_rate_warmup_epochs > 0 && (piecewise || params.init_learning_rate)) {
    warmup_steps_ = static_cast<int64_t>(steps_per_epoch * params.num_learning_rate_warmup_epochs);
    warmup_rate_ = rates_[0];
  }
}

void LearningRate::SetPiecewise(const BenchParams& params, double steps_per_epoch) {
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
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i % 2 == 0) {
      rates_.push_back(ParseRate(parts[i]));
      continue;
    }
    const double steps = static_cast<double>(ParseEpoch(parts[i])) * steps_per_epoch;
    const int64_t boundary = static_cast<int64_t>(std::clamp(steps, -9e18, 9e18)) - 1;
    if (!boundaries_.empty() && boundary <= boundaries_.back()) {
      throw InvalidArgument(
          fmt::format("--piecewise_learning_rate_schedule: epoch {} must lie after the one before it", parts[i]));
    }
    boundaries_.push_back(boundary);
  }
}

void LearningRate::SetInitial(const BenchParams& params, double steps_per_epoch) {
  rates_ = {*params.init_learning_rate};
  if (params.num_epochs_per_decay <= 0 || params.learning_rate_decay_factor <= 0) return;
  decay_steps_ = static_cast<int64_t>(std::min(steps_per_epoch * params.num_epochs_per_decay, 9e18));
  if (decay_steps_ < 1) {
    throw InvalidArgument(fmt::format("flag --num_epochs_per_decay={}: must be at least one step, which is {} epochs",
                                      PythonFloat(params.num_epochs_per_decay), 1 / steps_per_epoch));
  }
  decay_factor_ = params.learning_rate_decay_factor;
  minimum_ = params.minimum_learning_rate;
}

void LearningRate::SetModel(const BenchParams& params, const ModelRate& model, int64_t train_images,
                            int64_t images_per_step) {
  const double images = static_cast<double>(images_per_step);
  const double steps_per_epoch = static_cast<double>(train_images) / images;
  const auto at_epochs = [&](std::initializer_list<int> epochs, double steps, double scale,
                             std::initializer_list<double> rates) {
    for (const int epoch : epochs) boundaries_.push_back(static_cast<int64_t>(steps * epoch));
    for (const double rate : rates) rates_.push_back(scale * rate);
  };
  switch (model.kind) {
    case ModelRate::Kind::kConstant:
      rates_ = {model.rate};
      break;
    case ModelRate::Kind::kResnet: {
      // Replicated towers sum their gradients in the peer, so it divides the base rate by their number.
      double base = params.resnet_base_lr.value_or(model.rate);
      if (params.variable_update == "replicated") base /= static_cast<double>(params.num_gpus);
      warmup_rate_ = base * (images / kResnetImages);
      warmup_steps_ = static_cast<int64_t>(steps_per_epoch * kResnetWarmupEpochs);
      at_epochs({30, 60, 80, 90}, steps_per_epoch, warmup_rate_, {1, 0.1, 0.01, 0.001, 0.0001});
      break;
    }
    case ModelRate::Kind::kOfficialResnet:
      at_epochs({30, 60, 80, 90}, steps_per_epoch, model.rate / static_cast<double>(model.images) * images,
                {1, 0.1, 0.01, 0.001, 0.0001});
      break;
    case ModelRate::Kind::kCifarResnet:  // whole steps per epoch, unlike the others
      at_epochs({82, 123, 300}, std::floor(steps_per_epoch), 1, {0.1, 0.01, 0.001, 0.0002});
      break;
    case ModelRate::Kind::kDensenet:
      at_epochs({150, 225, 300}, std::floor(steps_per_epoch), 1, {0.1, 0.01, 0.001, 0.0001});
      break;
    case ModelRate::Kind::kCifarAlexnet:
      rates_ = {model.rate};
      decay_steps_ = std::max<int64_t>(1, 100 * train_images / images_per_step);
      decay_factor_ = 0.1;
      break;
  }
}

float LearningRate::At(int64_t step) const {
  if (step < warmup_steps_) {
    return static_cast<float>(warmup_rate_ * static_cast<double>(step) / static_cast<double>(warmup_steps_));
  }
  size_t i = 0;
  while (i < boundaries_.size() && step > boundaries_[i]) ++i;
  double rate = rates_[i];
  if (decay_steps_ > 0) {
    rate *= std::pow(decay_factor_, static_cast<double>(step / decay_steps_));
    if (minimum_ != 0) rate = std::max(rate, minimum_);
  }
  return static_cast<float>(rate);
}

}  // namespace muster::bench
