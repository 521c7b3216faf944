#pragma once

#include <string>

namespace muster::bench {

// Now, as "2026-11-30T08:04:09.770801Z".
std::string UtcTimestamp();

}  // namespace muster::bench
