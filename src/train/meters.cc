#include "train/meters.h"

namespace muster::train {

void LossMeter::Add(const StepResult& result, int64_t batch_size) {
  loss_sum_ += result.loss;
  correct_ += result.correct;
  images_ += batch_size;
  ++steps_;
}

void SpeedMeter::Add(int64_t images, double seconds) {
  steps_.push_back({images, seconds});
  images_ += images;
  seconds_ += seconds;
  while (steps_.size() > 1 && seconds_ - steps_.front().seconds >= window_seconds_) {
    images_ -= steps_.front().images;
    seconds_ -= steps_.front().seconds;
    steps_.pop_front();
  }
}

double TimeLeft(int64_t done, int64_t left, double seconds) {
  return done > 0 ? seconds / static_cast<double>(done) * static_cast<double>(left) : 0;
}

}  // namespace muster::train
