#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/pipeline.h"
#include "train/schedule_options.h"

namespace muster::train {

// Which update, and its numbers. Meanings and formulas: include/muster/optimizer.h.
struct OptimizerOptions {
  std::string name;  // one of kOptimizers
  double momentum = 0;
  double rmsprop_decay = 0;
  double rmsprop_momentum = 0;
  double rmsprop_epsilon = 0;
  double adam_beta1 = 0;
  double adam_beta2 = 0;
  double adam_epsilon = 0;
  double weight_decay = 0;  // adamw, lars: their own decay; others: times the L2 loss of the weights
};

const std::vector<std::string>& OptimizerNames();

// Everything that "muster train" was asked for, checked. The defaults are in flags.cc.
struct TrainOptions {
  std::string dataset;
  data::PipelineOptions pipeline;
  int prefetch_threads = 0;
  int prefetch_depth = 0;

  std::string model;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  double label_smoothing = 0;

  int64_t batch_size = 0;
  int64_t eval_batch_size = 0;
  int64_t num_epochs = 0;
  double target_accuracy = 0;
  double eval_every_n_epochs = 0;
  uint64_t seed = 0;
  int num_intra_threads = 0;  // 0: all cores
  std::string backend;
  bool batch_is_largest = false;     // batch_size is to become the largest that fits
  bool recompute = false;            // if the step would not fit otherwise
  int64_t host_memory_limit_mb = 0;  // 0: what is free
  bool check_nan = true;

  int64_t display_every = 0;
  std::string train_dir;  // "": none
  std::string json_path;  // "": none

  std::string checkpoint_dir;  // "": none
  std::string restore_from;    // "": the newest of checkpoint_dir
  int64_t save_model_steps = 0;
  int64_t save_model_secs = 0;
  int64_t max_ckpts_to_keep = 0;
  int64_t summary_verbosity = 0;
  int64_t save_summaries_steps = 0;

  std::vector<std::string> flag_words;  // as written, for the result file
};

}  // namespace muster::train
