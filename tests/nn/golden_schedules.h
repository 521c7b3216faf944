#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "muster/schedule.h"

namespace muster::testing {

// The schedule that a row of golden/schedules.json describes. Throws if Muster lacks it: a listed schedule must exist.
Schedule ScheduleOf(const std::string& name, const nlohmann::json& args);

}  // namespace muster::testing
