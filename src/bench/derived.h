#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/params.h"
#include "muster/models.h"

namespace muster::bench {

enum class Mode { kTraining, kEvaluation, kTrainingAndEvaluation, kForwardOnly };

// As the information block names it, for example "forward only".
const char* ModeName(Mode mode);

Mode ModeOf(const BenchParams& params);

// What follows from the parameters before anything runs. Constant after Derive.
struct Derived {
  Mode mode = Mode::kTraining;
  DatasetInfo dataset;
  Model model;
  bool synthetic = true;              // no data_dir
  int64_t num_devices = 1;            // of this process
  int64_t num_workers = 1;            // of the job
  int64_t batch_size_per_device = 0;  // images
  int64_t batch_size = 0;             // images per step of this process
  int64_t num_batches = 0;            // timed steps; of an evaluation alone: its steps
  double num_epochs = 0;              // what they amount to
  // Of evaluations during training; of an evaluation alone the same as above.
  int64_t eval_batch_size_per_device = 0;
  int64_t eval_batch_size = 0;
  int64_t num_eval_batches = 0;
  int64_t num_warmup_batches = 0;
  std::vector<std::string> devices;  // as printed: "/cpu:0"

  bool evaluates() const { return mode == Mode::kEvaluation || mode == Mode::kTrainingAndEvaluation; }
  int64_t global_batch_size() const { return batch_size * num_workers; }
  std::string dataset_label() const { return synthetic ? dataset.name + " (synthetic)" : dataset.name; }
};

// Throws InvalidArgument or Unimplemented for an unknown data set or model.
Derived Derive(const BenchParams& params);

// The data set whose name a folder's path contains, as tf_cnn_benchmarks looks for it; empty: none.
std::string DatasetNamedBy(const std::string& folder);

// Number of steps and the epochs they amount to: num_batches, or num_epochs rounded up to whole steps, or 100 steps.
// "images_per_step" counts all workers. Throws when both are given.
struct Amount {
  int64_t num_batches;
  double num_epochs;
};
Amount AmountOfWork(std::optional<int64_t> num_batches, std::optional<double> num_epochs, int64_t images_per_step,
                    int64_t images_per_epoch, const char* epochs_flag = "num_epochs");

// num_warmup_batches, or max(10, 5 t^2) with t = autotune_threshold or 1.
int64_t WarmupBatches(const BenchParams& params);

// The warm-up made a little longer, so that the first timed step falls on the start of a group of batches.
int64_t RoundUpWarmup(int64_t warmup_batches, int64_t batch_group_size);

}  // namespace muster::bench
