#pragma once

#include <cstdint>
#include <memory>

#include "muster/optimizer.h"
#include "muster/schedule.h"
#include "train/options.h"

namespace muster::train {

// The learning rate in steps. Epochs become steps with "train_images" and "batch_size", rounded to the nearest, at
// least one; polynomial and cosine end with the last of "num_epochs" unless they say otherwise.
Schedule MakeSchedule(const ScheduleOptions& options, int64_t train_images, int64_t batch_size, int64_t num_epochs);

std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions& options, LearningRate rate);

// The factor of the L2 loss of the weights: weight_decay, or 0 for optimizers that decay weights themselves.
double L2Factor(const OptimizerOptions& options);

}  // namespace muster::train
