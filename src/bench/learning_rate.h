#pragma once

#include <cstdint>
#include <vector>

#include "bench/model_facts.h"
#include "bench/params.h"

namespace muster::bench {

// The learning rate as a pure function of the global step, put together from the flags (tf_cnn_benchmarks,
// get_learning_rate): a piecewise schedule, else --init_learning_rate with its decay, else the model's own; the first
// two with an optional linear warm-up. Computed in double, handed out as float32. Immutable.
class LearningRate {
 public:
  // "steps_per_epoch" = training images / images per global step; "images_per_step" is that divisor. Throws
  // InvalidArgument for a malformed piecewise schedule, for flags that exclude each other, and for decay or epochs
  // shorter than one step.
  LearningRate(const BenchParams& params, const ModelRate& model, int64_t train_images, int64_t images_per_step);

  float At(int64_t step) const;

 private:
  void SetPiecewise(const BenchParams& params, double steps_per_epoch);
  void SetInitial(const BenchParams& params, double steps_per_epoch);
  void SetModel(const BenchParams& params, const ModelRate& model, int64_t train_images, int64_t images_per_step);

  // Step k has rates_[i] with the smallest i for which k <= boundaries_[i]; the last rate beyond them all.
  std::vector<int64_t> boundaries_;
  std::vector<double> rates_;
  // Staircase decay of a single rate: rates_[0] * decay_factor_ ^ (k div decay_steps_), at least minimum_.
  int64_t decay_steps_ = 0;  // 0: none
  double decay_factor_ = 1;
  double minimum_ = 0;
  // Linear ramp: warmup_rate_ * k / warmup_steps_ while k < warmup_steps_.
  int64_t warmup_steps_ = 0;
  double warmup_rate_ = 0;
};

}  // namespace muster::bench
