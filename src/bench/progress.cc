#include "bench/progress.h"

#include <fmt/format.h>

#include <cmath>

namespace muster::bench {

std::string DurationText(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const int64_t whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string ProgressLine(const std::string& phase, int64_t done, int64_t total, double seconds) {
  std::string line = fmt::format("{} {}/{}", phase, done, total);
  if (done == 0) return line;
  const double per_step = seconds / static_cast<double>(done);
  const std::string each =
      per_step < 0.1 ? fmt::format("{:.1f} ms", per_step * 1000) : fmt::format("{:.1f} s", per_step);
  return line + fmt::format(", {} per step, {} left", each, DurationText(per_step * static_cast<double>(total - done)));
}

}  // namespace muster::bench
