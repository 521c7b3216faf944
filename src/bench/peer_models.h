#pragma once

#include <string>
#include <string_view>

#include "muster/models.h"

namespace muster::bench {

// The zoo (muster/models.h) as a benchmark names it: values of --data_name and --model are those of tf_cnn_benchmarks.
// Both throw InvalidArgument, with the list of what there is, for a name that nobody knows, and Unimplemented for one
// that tf_cnn_benchmarks has and Muster does not have yet.
const DatasetInfo& FindBenchDataset(std::string_view name);
const Model& FindBenchModel(std::string_view name, std::string_view dataset);

}  // namespace muster::bench
