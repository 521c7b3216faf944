#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace muster::bench {

// One line of JSON spaced as Python's json.dumps does ("a": 1, "b": 2), with keys in the order of insertion. Numbers
// that JSON cannot express (NaN, infinity) become null.
std::string JsonLine(const nlohmann::ordered_json& value);

// Now, as "2026-11-30T08:04:09.770801Z".
std::string UtcTimestamp();

}  // namespace muster::bench
