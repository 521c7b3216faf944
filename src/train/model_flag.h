#pragma once

#include <span>
#include <string>
#include <string_view>

#include "muster/models.h"

namespace muster::train {

// The model that --model names: that of the first of these data sets which has one of this name. Throws InvalidArgument
// naming the flag, what was probably meant, and the known models.
const Model& FindModelOfFlag(const std::string& name, std::span<const std::string_view> datasets);

}  // namespace muster::train
