#include "base/bytes.h"

#include <fmt/core.h>

#include <array>

namespace muster {

std::string HumanBytes(int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const double magnitude = bytes < 0 ? -static_cast<double>(bytes) : static_cast<double>(bytes);
  if (magnitude < 1024) return fmt::format("{}B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.995 would print as 1024.00 of the smaller unit.
  while ((value >= 1023.995 || value <= -1023.995) && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f}{}", value, kUnits[unit]);
}

}  // namespace muster
