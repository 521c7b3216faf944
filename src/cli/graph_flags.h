#pragma once

#include "base/flags.h"

namespace muster::cli {

// The flags of "muster graph".
FlagTable GraphFlags();
// Throws InvalidArgument for flags that contradict each other or have no effect together.
void CheckGraphFlags(const FlagValues& values);

}  // namespace muster::cli
