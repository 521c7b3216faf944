#pragma once

#include <cstdint>

#include "bench/params.h"
#include "muster/models.h"
#include "muster/schedule.h"

namespace muster::bench {

// The learning rate as a function of the global step, put together from the flags (tf_cnn_benchmarks,
// get_learning_rate): a piecewise schedule, else --init_learning_rate with its decay, else the model's own; the first
// two with an optional linear warm-up. "images_per_step" counts every image of a global step; "summed_towers" is the
// number of towers whose gradients are added, by which a ResNet's own schedule divides. Throws InvalidArgument for a
// malformed piecewise schedule, for flags that exclude each other, and for a decay shorter than one step.
Schedule MakeSchedule(const BenchParams& params, const Model& model, int64_t train_images, int64_t images_per_step,
                      int summed_towers);

}  // namespace muster::bench
