// A point of a sweep, read from the result file of its run.

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/sweep.h"
#include "muster/error.h"

namespace muster::bench {

SweepMeasurement MeasurementFromJson(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    SweepMeasurement measured;
    const nlohmann::json& run = json.at("run");
    measured.model = run.at("model").get<std::string>();
    measured.num_devices = static_cast<int64_t>(run.at("devices").size());
    if (!json.at("images_per_sec").is_null()) measured.images_per_sec = json.at("images_per_sec").get<double>();
    measured.step_seconds = json.at("mean_seconds").at("step").get<double>();
    measured.exchange_exposed_seconds = json.at("mean_seconds").value("exchange_exposed", 0.0);
    measured.bytes_per_device = json.at("planned_peak_bytes").get<int64_t>();
    if (const auto devices = json.find("memory"); devices != json.end() && devices->is_array() && !devices->empty()) {
      measured.bytes_per_device = 0;
      for (const nlohmann::json& device : *devices)
        measured.bytes_per_device = std::max(measured.bytes_per_device, device.at("planned_bytes").get<int64_t>());
    }
    if (!json.at("error").is_null()) measured.error = json.at("error").get<std::string>();
    return measured;
  } catch (const nlohmann::json::exception& error) {
    throw Internal(fmt::format("a result file of a sweep's point cannot be read: {}", error.what()));
  }
}

}  // namespace muster::bench
