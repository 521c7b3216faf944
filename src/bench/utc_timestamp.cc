#include "bench/utc_timestamp.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace muster::bench {

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
