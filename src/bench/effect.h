#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/params.h"

namespace muster::bench {

// Muster's own flags that are not at their defaults and change nothing in this request, each with the reason: "with one
// device".
std::vector<std::pair<std::string, std::string>> OwnFlagsWithoutEffect(const BenchParams& params, const OwnParams& own);

// Why a flag about checkpoints or event files changes nothing in a run that trains or only runs forward; "" when it
// does, and for other flags.
std::string FilesWithoutEffect(const BenchParams& params, const std::string& flag);

}  // namespace muster::bench
