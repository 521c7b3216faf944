#pragma once

#include "base/flags.h"
#include "train/options.h"

namespace muster::train {

// The flags of "muster train". Where tf_cnn_benchmarks has a flag for the same thing, the name is the same.
FlagTable TrainFlags();

// The values, checked against each other: throws InvalidArgument with one line naming the flags that do not fit.
// Whether data set and model exist is found out when they are opened.
TrainOptions OptionsFromFlags(const FlagValues& values);

}  // namespace muster::train
