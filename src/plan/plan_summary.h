#pragma once

#include "muster/plan_summary.h"
#include "plan/plan.h"

namespace muster {

PlanSummary Summarize(const Plan& plan);

}  // namespace muster
