// A sweep as a table, as CSV and as JSON.

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/version.h"
#include "bench/sweep.h"
#include "bench/utc_timestamp.h"

namespace muster::bench {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string Number(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

std::string Share(double part, double whole) { return whole > 0 ? fmt::format("{:.1f}%", 100 * part / whole) : "-"; }

// Columns as wide as their widest cell; words to the left, figures to the right.
std::string Align(const Lines& lines, size_t num_words) {
  std::vector<size_t> widths;
  for (const auto& line : lines)
    for (size_t c = 0; c < line.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], line[c].size());
    }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (size_t c = 0; c < line.size(); ++c) {
      const std::string gap = c == 0 ? "" : "  ";
      row += c < num_words ? fmt::format("{}{:<{}}", gap, line[c], widths[c])
                           : fmt::format("{}{:>{}}", gap, line[c], widths[c]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string Quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

}  // namespace

std::string SweepTable(const SweepResult& result) {
  Lines lines(1);
  for (const SweepAxis& axis : result.axes) lines[0].push_back(axis.flag);
  for (const char* title : {"images/sec", "speed-up", "efficiency", "exchange exposed", "MiB per device"})
    lines[0].emplace_back(title);
  for (const SweepRow& row : result.rows) {
    const SweepMeasurement& m = row.measured;
    std::vector<std::string> line = row.point;
    if (!m.error.empty()) {
      line.emplace_back("failed");
    } else {
      const double mib = static_cast<double>(m.bytes_per_device) / (1 << 20);
      for (std::string& cell :
           std::vector<std::string>{Number(m.images_per_sec, 2), Number(row.speed_up, 2), Number(row.efficiency, 3),
                                    Share(m.exchange_exposed_seconds, m.step_seconds), Number(mib, 1)})
        line.push_back(std::move(cell));
    }
    lines.push_back(std::move(line));
  }
  return Align(lines, result.axes.size());
}

std::string SweepCsv(const SweepResult& result) {
  std::string text;
  for (const SweepAxis& axis : result.axes) text += Quoted(axis.flag) + ",";
  text +=
      "model,num_devices,images_per_sec,speed_up,efficiency,step_seconds,exchange_exposed_seconds,bytes_per_device,"
      "error\n";
  const auto digits = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : ""; };
  for (const SweepRow& row : result.rows) {
    const SweepMeasurement& m = row.measured;
    for (const std::string& value : row.point) text += Quoted(value) + ",";
    if (!m.error.empty()) {
      text += ",,,,,,,," + Quoted(m.error) + "\n";
      continue;
    }
    text += fmt::format("{},{},{},{},{},{},{},{},\n", Quoted(m.model), m.num_devices, digits(m.images_per_sec),
                        digits(row.speed_up), digits(row.efficiency), m.step_seconds, m.exchange_exposed_seconds,
                        m.bytes_per_device);
  }
  return text;
}

std::string SweepJson(const SweepResult& result, const std::vector<std::string>& words) {
  Json json = {{"format", "muster sweep 1"},
               {"written", UtcTimestamp()},
               {"interrupted", result.interrupted},
               {"command_line", words},
               {"software", {{"muster", Version()}, {"commit", Commit()}}}};
  json["axes"] = Json::Array();
  for (const SweepAxis& axis : result.axes) json["axes"].push_back({{"flag", axis.flag}, {"values", axis.values}});
  json["rows"] = Json::Array();
  for (const SweepRow& row : result.rows) {
    const SweepMeasurement& m = row.measured;
    const auto known = [&](auto value) { return m.error.empty() ? Json(value) : Json(); };
    Json point = Json::Object();
    for (size_t i = 0; i < result.axes.size(); ++i) point[result.axes[i].flag] = row.point[i];
    json["rows"].push_back({{"point", point},
                            {"model", known(m.model)},
                            {"num_devices", known(m.num_devices)},
                            {"images_per_sec", m.images_per_sec},
                            {"speed_up", row.speed_up},
                            {"efficiency", row.efficiency},
                            {"step_seconds", known(m.step_seconds)},
                            {"exchange_exposed_seconds", known(m.exchange_exposed_seconds)},
                            {"bytes_per_device", known(m.bytes_per_device)},
                            {"error", m.error.empty() ? Json() : Json(m.error)}});
  }
  return json.Text();
}

}  // namespace muster::bench
