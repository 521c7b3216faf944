#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::bench {

// What the benchmark has to know about a data set before, and without, reading any of it.
struct DatasetFacts {
  std::string name;
  int64_t train_images = 0;
  int64_t validation_images = 0;
};

// A model's own learning-rate schedule, used when no flag sets the rate. "rate" is the number the schedule scales.
struct ModelRate {
  enum class Kind {
    kConstant,        // rate
    kResnet,          // per 256 images, warm-up of 5 epochs, x 0.1 at epochs 30, 60, 80, 90
    kOfficialResnet,  // per "images" images, x 0.1 at epochs 30, 60, 80, 90
    kCifarResnet,     // .1, .01, .001, .0002 at epochs 82, 123, 300
    kCifarAlexnet,    // rate x 0.1 every 100 epochs
    kDensenet,        // .1, .01, .001, .0001 at epochs 150, 225, 300
  };
  Kind kind = Kind::kConstant;
  double rate = 0.005;
  int64_t images = 0;  // kOfficialResnet: the model's default batch size, for which "rate" holds
};

// What the benchmark has to know about a model; its layers are the zoo's business (models/).
struct ModelFacts {
  std::string name;          // value of --model
  std::string dataset;       // value of --data_name
  std::string printed_name;  // in the information block
  int64_t default_batch_size = 0;
  ModelRate rate;
  bool built = false;  // false: tf_cnn_benchmarks has it, Muster not yet
};

// All models of tf_cnn_benchmarks that can be described (reference: tf_cnn_benchmarks' model files, section 2 of our
// inventory; golden/models.json).
const std::vector<ModelFacts>& AllModels();
const std::vector<DatasetFacts>& AllDatasets();

// Throw InvalidArgument, with the list of what there is, for a name that nobody knows, and Unimplemented for one that
// Muster does not have yet.
const DatasetFacts& FindDataset(std::string_view name);
const ModelFacts& FindModel(std::string_view name, std::string_view dataset);

}  // namespace muster::bench
