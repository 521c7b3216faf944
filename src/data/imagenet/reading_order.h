#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/imagenet/image_source.h"

namespace muster::data {

// The order of tf.data's parallel_interleave (not sloppy), with which tf_cnn_benchmarks reads its files: "cycle_length"
// of them are open and give a record each in turn; a file that has none left when its turn comes is replaced by the
// next one, which is first asked in the following round. Records are counted through all files.
std::vector<int64_t> InterleavedOrder(const std::vector<int64_t>& file_sizes, int64_t cycle_length);

// The images of a validation set in the order in which they are evaluated: record files interleaved; images that lie in
// folders by class in a random order that is always the same, so that the first ones are a fair sample.
std::unique_ptr<ImageSource> InEvaluationOrder(std::unique_ptr<ImageSource> images, int64_t cycle_length);

}  // namespace muster::data
