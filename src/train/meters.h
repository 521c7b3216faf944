#pragma once

#include <cstdint>
#include <deque>

#include "train/train_step.h"

namespace muster::train {

// Means of training loss and accuracy since the last Reset.
class LossMeter {
 public:
  void Add(const StepResult& result, int64_t batch_size);
  void Reset() { *this = LossMeter(); }

  double loss() const { return steps_ > 0 ? loss_sum_ / static_cast<double>(steps_) : 0; }
  double accuracy() const { return images_ > 0 ? static_cast<double>(correct_) / static_cast<double>(images_) : 0; }
  int64_t images() const { return images_; }

 private:
  double loss_sum_ = 0;
  int64_t correct_ = 0;
  int64_t images_ = 0;
  int64_t steps_ = 0;
};

// Speed over the last few seconds of training, so that a display follows changes without jumping. Time spent elsewhere
// (evaluation) is left out because only the duration of steps is added.
class SpeedMeter {
 public:
  explicit SpeedMeter(double window_seconds = 2.0) : window_seconds_(window_seconds) {}
  void Add(int64_t images, double seconds);
  // 0 before the first step.
  double images_per_sec() const { return seconds_ > 0 ? static_cast<double>(images_) / seconds_ : 0; }

 private:
  struct Step {
    int64_t images;
    double seconds;
  };
  double window_seconds_;
  std::deque<Step> steps_;
  int64_t images_ = 0;
  double seconds_ = 0;
};

// The time that "left" more units take if "done" units took "seconds" (0 before the first).
double TimeLeft(int64_t done, int64_t left, double seconds);

}  // namespace muster::train
