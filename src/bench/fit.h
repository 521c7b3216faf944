#pragma once

#include <cstdint>
#include <functional>

#include "muster/error.h"

namespace muster::bench {

// Bytes that a new plan may use now: what the system and the control group leave.
int64_t AvailableBytes();

// The error for a batch that needs "needed" bytes where "available" are left. "peak_of" compiles a smaller batch and
// returns its planned peak; with it the largest batch that fits is found and named.
Error DoesNotFit(int64_t batch, double needed, int64_t available, const std::function<int64_t(int64_t)>& peak_of);

}  // namespace muster::bench
