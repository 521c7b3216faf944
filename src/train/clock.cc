#include "train/clock.h"

#include <time.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace muster::train {
namespace {

// The clock in which the kernel counts process starts: since boot, suspension included.
double SecondsSinceBoot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Field 22 of /proc/self/stat (proc(5)), in clock ticks since boot. The second field, the program's name in brackets,
// may hold spaces.
std::optional<double> ProcessStart() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  constexpr int kStartTime = 22, kAfterName = 3;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = kAfterName; i <= kStartTime; ++i) fields >> field;
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  double ticks = 0;
  if (!(std::istringstream(field) >> ticks) || ticks_per_second <= 0) return std::nullopt;
  return ticks / static_cast<double>(ticks_per_second);
}

}  // namespace

ProcessClock::ProcessClock() {
  const double now = SecondsSinceBoot();
  const std::optional<double> start = ProcessStart();
  start_ = start && *start <= now ? *start : now;  // a container may count its boot differently
}

double ProcessClock::Seconds() const { return SecondsSinceBoot() - start_; }

}  // namespace muster::train
