#include "bench/json_text.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

namespace muster::bench {

std::string JsonLine(const nlohmann::ordered_json& value) {
  std::string text;
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", nlohmann::ordered_json(key).dump(), JsonLine(item));
    }
    return "{" + text + "}";
  }
  if (value.is_array()) {
    for (const auto& item : value) text += (text.empty() ? "" : ", ") + JsonLine(item);
    return "[" + text + "]";
  }
  // "replace": a flag may hold bytes that are not UTF-8; a log line must not fail for that.
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string UtcTimestamp() {
  using std::chrono::duration_cast;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const int64_t micros = duration_cast<std::chrono::microseconds>(since_epoch).count();
  const std::time_t seconds = static_cast<std::time_t>(micros / 1000000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, micros % 1000000);
}

}  // namespace muster::bench
