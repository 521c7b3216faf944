#pragma once

namespace muster::data {

// Which part of a data set.
enum class Subset { kTrain, kValidation };

// "train", "validation".
inline const char* SubsetName(Subset subset) { return subset == Subset::kTrain ? "train" : "validation"; }

}  // namespace muster::data
