#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "train/clock.h"
#include "train/console.h"
#include "train/hook.h"
#include "train/train_step.h"

namespace muster::train {

// Time that a test moves.
class FakeClock : public Clock {
 public:
  double Seconds() const override { return now; }
  double now = 0;
};

// Keeps what was written.
class FakeConsole : public Console {
 public:
  void Write(std::string_view text) override { written.emplace_back(text); }
  bool is_terminal() const override { return terminal; }
  bool has_colour() const override { return colour; }
  int columns() const override { return width; }
  std::string all() const {
    std::string text;
    for (const std::string& part : written) text += part;
    return text;
  }

  std::vector<std::string> written;
  bool terminal = false;
  bool colour = false;
  int width = 80;
};

// A data set of one-pixel images that hold their index.
class NumberedImages : public data::Dataset {
 public:
  explicit NumberedImages(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  const Shape& image_shape() const override { return shape_; }
  int num_classes() const override { return 10; }
  int32_t Get(int64_t index, uint64_t, std::span<float> image) const override {
    image[0] = static_cast<float>(index);
    return static_cast<int32_t>(index % 10);
  }

 private:
  int64_t size_;
  Shape shape_{1, 1, 1};
};

// An engine that takes one second for a step and a tenth for an evaluation step. "loss" gives the loss of step k, and
// after k steps "accuracy(k)" of the rows of every batch are right.
class FakeTrainStep : public TrainStep {
 public:
  double test_loss = 2;
  explicit FakeTrainStep(FakeClock* clock) : clock_(clock) {}

  StepResult Train(const data::Batch& batch) override {
    clock_->now += 1;
    for (const float index : batch.images.data<float>()) trained.push_back(static_cast<int64_t>(index));
    const int64_t step = steps++;
    return {loss(step), static_cast<int64_t>(accuracy(step) * static_cast<double>(batch.valid)), 0.5};
  }
  EvalResult Evaluate(const data::Batch& batch) override {
    clock_->now += 0.1;
    for (int64_t row = 0; row < batch.valid; ++row)
      evaluated.push_back(static_cast<int64_t>(batch.images.data<float>()[static_cast<size_t>(row)]));
    return {test_loss * static_cast<double>(batch.valid),
            static_cast<int64_t>(accuracy(steps) * static_cast<double>(batch.valid))};
  }
  std::string ExplainNonFinite(int64_t step, const data::BatchSource&) override {
    return "layer conv" + std::to_string(step) + " holds NaN";
  }

  std::function<double(int64_t)> loss = [](int64_t) { return 1.0; };
  std::function<double(int64_t)> accuracy = [](int64_t) { return 0.5; };
  int64_t steps = 0;
  std::vector<int64_t> trained;
  std::vector<int64_t> evaluated;

 private:
  FakeClock* clock_;
};

// Writes down what it is told.
class RecordingHook : public Hook {
 public:
  void Begin(const Progress&) override { events.push_back("begin"); }
  void AfterStep(const Progress& progress) override {
    events.push_back("step " + std::to_string(progress.step));
    last = progress;
  }
  void DuringEvaluation(const Progress&, int64_t done, int64_t total) override {
    events.push_back("batch " + std::to_string(done) + "/" + std::to_string(total));
  }
  void AfterEvaluation(const Progress&, const Evaluation& evaluation) override {
    events.push_back("evaluation at " + std::to_string(evaluation.step));
  }
  void End(const TrainResult&) override { events.push_back("end"); }

  std::vector<std::string> events;
  Progress last;
};

}  // namespace muster::train
