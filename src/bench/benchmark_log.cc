#include "bench/benchmark_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "bench/info_block.h"
#include "bench/utc_timestamp.h"

namespace muster::bench {
namespace {

// Parameters carry their type in the key, as in BigQuery's schema for which the model garden made the format.
Json Parameter(const std::string& name, const std::string& value) { return {{"name", name}, {"string_value", value}}; }
Json Parameter(const std::string& name, int64_t value) { return {{"name", name}, {"long_value", value}}; }
Json Parameter(const std::string& name, double value) { return {{"name", name}, {"float_value", value}}; }
Json BoolParameter(const std::string& name, bool value) { return {{"name", name}, {"bool_value", PythonBool(value)}}; }

// What stands where TensorFlow puts its session configuration.
std::string SessionText(const BenchParams& params) {
  return fmt::format("device: {}\nnum_intra_threads: {}\n", params.device, params.num_intra_threads.value_or(0));
}

// Sorted by name.
Json RunParameters(const BenchParams& params, const Derived& derived) {
  return Json::Array(
      {Parameter("batch_size", derived.batch_size), Parameter("batch_size_per_device", derived.batch_size_per_device),
       Parameter("data_format", params.data_format), Parameter("dataset", derived.dataset_label()),
       Parameter("devices", PythonList(derived.devices)), Parameter("mode", std::string(ModeName(derived.mode))),
       Parameter("model", derived.model.printed_name), Parameter("num_batches", derived.num_batches),
       Parameter("num_epochs", derived.num_epochs), Parameter("optimizer", params.optimizer),
       Parameter("rewrite_config", params.rewriter_config.value_or("None")),
       Parameter("session_config", SessionText(params)),
       BoolParameter("single_sess", params.variable_update == "distributed_all_reduce")});
}

// Environment that changes how the libraries underneath behave, sorted.
Json EnvironmentVariables() {
  std::vector<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    for (const char* prefix : {"MUSTER_", "OMP_", "ONEDNN_", "DNNL_", "TF_"}) {
      if (text.compare(0, std::string(prefix).size(), prefix) == 0) found.push_back(text);
    }
  }
  std::sort(found.begin(), found.end());
  Json list = Json::Array();
  for (const std::string& text : found) {
    const size_t equals = std::min(text.find('='), text.size() - 1);
    list.push_back({{"name", text.substr(0, equals)}, {"value", text.substr(equals + 1)}});
  }
  return list;
}

Json MachineConfig(const MachineFacts& machine) {
  return {{"cpu_info",
           {{"num_cores", machine.num_cpus}, {"cpu_info", machine.cpu_model}, {"mhz_per_cpu", machine.cpu_mhz}}},
          {"memory_total", machine.memory_total_bytes},
          {"memory_available", machine.memory_available_bytes}};
}

}  // namespace

BenchmarkLog::BenchmarkLog(std::string folder) : folder_(std::move(folder)) { CreateWritableFolder(folder_); }

void BenchmarkLog::LogRun(const BenchParams& params, const Derived& derived, const MachineFacts& machine) {
  Json run;
  run["model_name"] = derived.model.printed_name;
  run["dataset"] = {{"name", derived.dataset_label()}};
  run["machine_config"] = MachineConfig(machine);
  run["test_id"] = params.benchmark_test_id;
  run["run_date"] = UtcTimestamp();
  // The keys are the format's; what they say is Muster's.
  run["tensorflow_version"] = {{"version", fmt::format("Muster {}", Version())}, {"git_hash", Commit()}};
  run["tensorflow_environment_variables"] = EnvironmentVariables();
  run["run_parameters"] = RunParameters(params, derived);
  WriteFileAtomically(folder_ + "/metric.log", "");
  WriteFileAtomically(folder_ + "/benchmark_run.log", run.Line() + "\n");
}

void BenchmarkLog::LogMetric(const std::string& name, double value, int64_t global_step) {
  Json metric;
  metric["name"] = name;
  metric["value"] = value;
  metric["unit"] = nullptr;
  metric["global_step"] = global_step;
  metric["timestamp"] = UtcTimestamp();
  metric["extras"] = Json::Array();
  AppendToFile(folder_ + "/metric.log", metric.Line() + "\n");
}

}  // namespace muster::bench
