#pragma once

#include <string>

#include "train/result.h"

namespace muster::train {

// What the user reads at the end: how the run ended, time to accuracy, epochs, best accuracy, images/s, input wait.
// Several lines, each ended by a newline.
std::string SummaryText(const TrainResult& result);

}  // namespace muster::train
