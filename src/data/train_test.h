#pragma once

#include <memory>

#include "data/dataset.h"
#include "data/dataset_files.h"

namespace muster::data {

// Training and test part of a data set, raw pixels.
struct TrainTest {
  std::unique_ptr<Dataset> train;
  std::unique_ptr<Dataset> test;
};

// Reads all files. Both parts have the same image size and number of classes (that of the training labels where
// "files" does not know it), or Error is thrown.
TrainTest ReadTrainTest(const DatasetFiles& files);

}  // namespace muster::data
