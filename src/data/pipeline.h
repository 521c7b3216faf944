#pragma once

#include "data/augment.h"
#include "data/train_test.h"

namespace muster::data {

enum class Scaling {
  kStandardize,  // mean 0, deviation 1 per channel, measured on the training images
  kUnit,         // 0 to 1
};

struct PipelineOptions {
  int64_t pad_to = 0;  // images become squares of this size, with black around them; 0: they stay
  Scaling scaling = Scaling::kStandardize;
  AugmentOptions augment;  // of the training images only
};

// Stacks the decorators over raw pixels: padding, augmentation (training part), then scaling (both parts, the same
// numbers).
TrainTest BuildPipeline(TrainTest raw, const PipelineOptions& options);

}  // namespace muster::data
