#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "train/options.h"
#include "train/result.h"

namespace muster::train {

// What the result file says beside options and result.
struct RunFacts {
  std::string host;
  std::string cpu_model;
  int num_cpus = 0;
  std::string dataset_folder;
  int64_t train_images = 0;
  int64_t test_images = 0;
  std::vector<int64_t> image_shape;  // height, width, channels
  int num_classes = 0;
  int64_t trainable_parameters = 0;
  int64_t planned_peak_bytes = 0;
  int64_t measured_peak_bytes = 0;
};

// The result of a run, with everything needed to repeat it. Schema: docs/train_json.md.
Json ResultJson(const TrainOptions& options, const RunFacts& facts, const TrainResult& result);

}  // namespace muster::train
