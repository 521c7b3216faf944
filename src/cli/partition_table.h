#pragma once

#include <string>

#include "base/json.h"
#include "muster/plan_stats.h"
#include "muster/plan_summary.h"

namespace muster::cli {

// For each device its memory and its steps in order; then every transfer between devices with its bytes, and their sum.
std::string PartitionTable(const PlanSummary& plan, const PlanStats& stats);
// The same as JSON: {"partitions": [{"device", "peak_bytes", "steps": [{"name", "op", "outputs", "transfer"}]}],
// "transfers": [{"value", "dtype", "shape", "bytes", "from", "to"}], "transfer_bytes"}.
Json PartitionJson(const PlanSummary& plan, const PlanStats& stats);

}  // namespace muster::cli
