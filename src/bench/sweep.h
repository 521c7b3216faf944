#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/sweep_spec.h"

namespace muster::bench {

// What one point of the grid gave. A point that failed has only its error; files leave the rest empty (null).
struct SweepMeasurement {
  std::string model;  // as printed
  int64_t num_devices = 1;
  std::optional<double> images_per_sec;
  double step_seconds = 0;              // mean of a timed step
  double exchange_exposed_seconds = 0;  // part of it in which devices waited for the exchange of gradients
  int64_t bytes_per_device = 0;         // planned peak of the device that needs most
  std::string error;                    // one line
};

struct SweepRow {
  SweepPoint point;
  SweepMeasurement measured;
  std::optional<double> speed_up;    // over the best single device of the same model; unset without one
  std::optional<double> efficiency;  // speed_up over the number of devices
};

struct SweepResult {
  std::vector<SweepAxis> axes;
  std::vector<SweepRow> rows;  // of the points that were run, in order
  bool interrupted = false;
};

// Runs a point by itself: one benchmark from start to end.
using PointRunner = std::function<SweepMeasurement(const std::vector<SweepAxis>& axes, const SweepPoint& point)>;

// Runs every point of the grid, one after another; "note" hears what is about to run. A point that fails does not end
// the sweep, Ctrl-C does.
SweepResult RunSweep(const std::vector<SweepAxis>& axes, const PointRunner& run,
                     const std::function<void(const std::string&)>& note);

// Reads a result file of `muster bench --json`.
SweepMeasurement MeasurementFromJson(const std::string& json);

// The table that people read, one line per point.
std::string SweepTable(const SweepResult& result);
// The same with all digits: a header line, then one line per point. Quoted as RFC 4180 says.
std::string SweepCsv(const SweepResult& result);
std::string SweepJson(const SweepResult& result, const std::vector<std::string>& words);

}  // namespace muster::bench
