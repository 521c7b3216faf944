#include "bench/sweep.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "muster/error.h"

namespace muster::bench {
namespace {

std::string Describe(const std::vector<SweepAxis>& axes, const SweepPoint& point) {
  std::string text;
  for (size_t i = 0; i < axes.size(); ++i) text += fmt::format("{}{}={}", i == 0 ? "" : " ", axes[i].flag, point[i]);
  return text;
}

// How much faster than the best single device of the same model, whatever else was swept.
void CompareWithSingleDevices(std::vector<SweepRow>& rows) {
  std::map<std::string, double> best;
  for (const SweepRow& row : rows)
    if (row.measured.num_devices == 1 && row.measured.images_per_sec)
      best[row.measured.model] = std::max(best[row.measured.model], *row.measured.images_per_sec);
  for (SweepRow& row : rows) {
    const auto single = best.find(row.measured.model);
    if (single == best.end() || single->second <= 0 || !row.measured.images_per_sec) continue;
    row.speed_up = *row.measured.images_per_sec / single->second;
    row.efficiency = *row.speed_up / static_cast<double>(row.measured.num_devices);
  }
}

}  // namespace

SweepResult RunSweep(const std::vector<SweepAxis>& axes, const PointRunner& run,
                     const std::function<void(const std::string&)>& note) {
  SweepResult result{axes, {}, false};
  const std::vector<SweepPoint> points = SweepPoints(axes);
  for (size_t i = 0; i < points.size() && !Interrupted(); ++i) {
    note(fmt::format("point {} of {}: {}", i + 1, points.size(), Describe(axes, points[i])));
    SweepRow row{points[i], {}, {}, {}};
    try {
      row.measured = run(axes, points[i]);
    } catch (const Error& error) {
      row.measured.error = error.what();
    }
    if (Interrupted()) break;  // half a measurement is none
    if (!row.measured.error.empty()) note(row.measured.error);
    result.rows.push_back(std::move(row));
  }
  result.interrupted = Interrupted();
  CompareWithSingleDevices(result.rows);
  return result;
}

}  // namespace muster::bench
