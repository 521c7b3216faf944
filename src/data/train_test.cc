#include "data/train_test.h"

#include <fmt/format.h>

#include "data/cifar/cifar10.h"
#include "data/idx_dataset.h"
#include "muster/error.h"

namespace muster::data {

TrainTest ReadTrainTest(const DatasetFiles& files) {
  if (files.name == "cifar10")
    return {ReadCifar10(files.folder, Subset::kTrain, files.num_classes, "--dataset"),
            ReadCifar10(files.folder, Subset::kValidation, files.num_classes, "--dataset")};
  TrainTest result;
  result.train = ReadIdxDataset(files.train_images, files.train_labels, files.num_classes);
  if (result.train->num_classes() < 2)
    throw InvalidArgument(fmt::format("{}: all {} labels are 0; at least two classes were expected",
                                      files.train_labels.string(), result.train->size()));
  result.test = ReadIdxDataset(files.test_images, files.test_labels, result.train->num_classes());
  if (result.test->image_shape() != result.train->image_shape())
    throw InvalidArgument(fmt::format("{}: images of shape {}, {} was expected as in {}", files.test_images.string(),
                                      result.test->image_shape().ToString(), result.train->image_shape().ToString(),
                                      files.train_images.string()));
  return result;
}

}  // namespace muster::data
