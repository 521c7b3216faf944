#include "bench/result_json.h"

#include "base/json.h"
#include "base/version.h"
#include "bench/output.h"
#include "bench/param_table.h"
#include "bench/step_stats.h"
#include "bench/utc_timestamp.h"

namespace muster::bench {

const char* ExitStateName(ExitState state) {
  switch (state) {
    case ExitState::kFinished: return "finished";
    case ExitState::kInterrupted: return "interrupted";
    case ExitState::kNotFinite: return "not_finite";
    case ExitState::kFailed: return "failed";
  }
  return "unknown";
}

namespace {

Json ToJson(const FlagValue& value) {
  return std::visit(
      [](const auto& typed) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(typed)>, std::monostate>) return nullptr;
        else return typed;
      },
      value);
}

Json FlagsJson(const BenchParams& params, const OwnParams& own) {
  Json flags;
  for (const ParamField& field : BenchParamTable().fields()) {
    flags[field.spec.name] = ToJson(GetParam(params, field));
  }
  flags["json"] = own.json;
  flags["check_nan"] = own.check_nan;
  flags["gradient_combine"] = own.gradient_combine;
  flags["bucket_mb"] = own.bucket_mb;
  flags["batch_norm_statistics"] = own.batch_norm_statistics;
  flags["use_bf16"] = own.use_bf16;
  flags["recompute"] = own.recompute;
  flags["host_memory_limit_mb"] = own.host_memory_limit_mb;
  flags["simulated_gpus"] = own.simulated_gpus;
  flags["gpu_memory_limit_mb"] = own.gpu_memory_limit_mb;
  flags["visible_device_list"] = own.visible_device_list;
  flags["virtual_gpus_mb"] = own.virtual_gpus_mb;
  flags["allow_soft_placement"] = own.allow_soft_placement;
  flags["gpu_delay_seed"] = own.gpu_delay_seed;
  flags["check_hazards"] = own.check_hazards;
  flags["dump_passes"] = own.dump_passes;
  flags["log_device_placement"] = own.log_device_placement;
  return flags;
}

Json MachineJson(const MachineFacts& machine) {
  Json caches = Json::Object();
  for (const auto& [name, bytes] : machine.caches) caches[name] = bytes;
  return {{"host", machine.host},
          {"system", machine.system},
          {"cpu", machine.cpu_model},
          {"cpus", machine.num_cpus},
          {"cpu_mhz", machine.cpu_mhz},
          {"memory_total_bytes", machine.memory_total_bytes},
          {"memory_available_bytes", machine.memory_available_bytes},
          {"cache_bytes", caches},
          {"instruction_sets", machine.instruction_sets}};
}

Json SoftwareJson(const PreparedRun& prepared) {
  Json libraries = Json::Object();
  for (const auto& [name, version] : prepared.libraries) libraries[name] = version;
  return {{"muster", Version()}, {"commit", Commit()}, {"libraries", libraries}};
}

Json RunJson(const BenchParams& params, const Derived& derived, const RunRecord& record) {
  return {{"model", derived.model.printed_name},
          {"dataset", derived.dataset_label()},
          {"mode", ModeName(derived.mode)},
          {"batch_size", derived.batch_size},
          {"batch_size_per_device", derived.batch_size_per_device},
          {"num_batches", derived.num_batches},
          {"num_epochs", derived.num_epochs},
          {"num_warmup_batches", record.num_warmup_batches},
          {"devices", derived.devices},
          {"threads", record.prepared.num_threads},
          {"data_format", params.data_format},
          {"optimizer", params.optimizer}};
}

// One array per quantity: easy to plot, and short.
Json StepsJson(const std::vector<StepRecord>& steps, bool with_accuracy) {
  Json json = {{"seconds", Json::Array()},
               {"input_seconds", Json::Array()},
               {"compute_seconds", Json::Array()},
               {"exchange_seconds", Json::Array()},
               {"update_seconds", Json::Array()},
               {"learning_rate", Json::Array()},
               {"loss", Json::Array()}};
  for (const StepRecord& step : steps) {
    json["seconds"].push_back(step.wall_seconds);
    json["input_seconds"].push_back(step.result.input_seconds);
    json["compute_seconds"].push_back(step.result.compute_seconds);
    json["exchange_seconds"].push_back(step.result.exchange_seconds);
    json["update_seconds"].push_back(step.result.update_seconds);
    json["learning_rate"].push_back(step.learning_rate);
    json["loss"].push_back(step.result.loss);
    if (!with_accuracy) continue;
    json["top_1_accuracy"].push_back(step.result.top_1_accuracy);
    json["top_5_accuracy"].push_back(step.result.top_5_accuracy);
  }
  return json;
}

// Mean seconds of a timed step and of its parts.
Json SplitJson(const std::vector<StepRecord>& steps) {
  double wall = 0, input = 0, compute = 0, exchange = 0, update = 0;
  for (const StepRecord& step : steps) {
    wall += step.wall_seconds;
    input += step.result.input_seconds;
    compute += step.result.compute_seconds;
    exchange += step.result.exchange_seconds;
    update += step.result.update_seconds;
  }
  const double count = steps.empty() ? 1 : static_cast<double>(steps.size());
  return {{"step", wall / count},
          {"input", input / count},
          {"compute", compute / count},
          {"exchange_exposed", exchange / count},
          {"update", update / count}};
}

Json EvaluationsJson(const std::vector<EvaluationRecord>& evaluations) {
  Json json = Json::Array();
  for (const EvaluationRecord& one : evaluations)
    json.push_back(
        {{"global_step", one.global_step},
         {"checkpoint", one.checkpoint.empty() ? Json() : Json(one.checkpoint)},
         {"top_1_accuracy", one.accuracies.top_1},
         {"top_5_accuracy", one.accuracies.top_5},
         {"num_batches", one.num_batches},
         {"examples", one.examples},
         {"seconds", one.seconds},
         {"images_per_sec", one.seconds > 0 ? Json(static_cast<double>(one.examples) / one.seconds) : Json()}});
  return json;
}

Json MemoryJson(const std::vector<DeviceBytes>& devices) {
  Json json = Json::Array();
  for (const DeviceBytes& device : devices)
    json.push_back({{"device", device.device},
                    {"planned_bytes", device.peak_bytes},
                    {"variable_bytes", device.variable_bytes},
                    {"gradient_bytes", device.gradient_bytes},
                    {"arena_bytes", device.arena_bytes},
                    {"channel_bytes", device.channel_bytes},
                    {"constant_bytes", device.constant_bytes},
                    {"feed_bytes", device.feed_bytes}});
  return json;
}

// In place of those of timed steps.
void AddEvaluationFigures(Json& json, const Derived& derived, const EvaluationRecord& last) {
  const TotalTiming total =
      ComputeTotal(static_cast<double>(derived.eval_batch_size), last.num_batches, derived.num_workers, last.seconds);
  json["images_per_sec"] = total.images_per_sec;
  json["average_wall_time"] = total.average_wall_time;
  json["num_steps"] = last.num_batches;
}

// The figures of the last step line, and the total.
void AddFigures(Json& json, const BenchParams& params, const Derived& derived, const RunRecord& record) {
  const double images = static_cast<double>(derived.batch_size);
  const TotalTiming total =
      ComputeTotal(images, static_cast<int64_t>(record.timed.size()), derived.num_workers, record.elapsed_seconds);
  json["images_per_sec"] = record.timed.empty() ? Json() : Json(total.images_per_sec);
  json["average_wall_time"] = record.timed.empty() ? Json() : Json(total.average_wall_time);
  json["num_workers"] = derived.num_workers;
  json["num_steps"] = record.timed.size();
  if (derived.mode == Mode::kEvaluation && !record.evaluations.empty())
    AddEvaluationFigures(json, derived, record.evaluations.back());
  if (record.timed.empty()) return;
  std::vector<double> seconds;
  for (const StepRecord& step : record.timed) seconds.push_back(step.wall_seconds);
  const PerfTiming timing = ComputePerfTiming(images, seconds, params.display_perf_ewma);
  json["images_per_sec_of_steps"] = timing.images_per_sec;
  json["images_per_sec_uncertainty"] = timing.uncertainty;
  json["images_per_sec_jitter"] = timing.jitter;
  json["last_average_loss"] = record.timed.back().result.loss;
}

}  // namespace

std::string ResultJson(const BenchParams& params, const OwnParams& own, const Derived& derived,
                       const MachineFacts& machine, const RunRecord& record) {
  Json json;
  json["format"] = "muster bench 1";
  json["exit_state"] = ExitStateName(record.state);
  json["error"] = record.error.empty() ? Json() : Json(record.error);
  json["started"] = record.started;
  json["written"] = UtcTimestamp();
  AddFigures(json, params, derived, record);
  json["planned_peak_bytes"] = record.prepared.planned_peak_bytes;
  json["memory"] = MemoryJson(record.prepared.memory);
  json["measured_peak_bytes"] = PeakOwnBytes(record.memory);
  json["peak_resident_bytes"] = record.memory.peak_resident;
  json["file_resident_bytes"] = record.memory.file;
  json["prepare_seconds"] = record.prepare_seconds;
  json["elapsed_seconds"] = record.elapsed_seconds;
  json["mean_seconds"] = SplitJson(record.timed);
  json["run"] = RunJson(params, derived, record);
  json["machine"] = MachineJson(machine);
  json["software"] = SoftwareJson(record.prepared);
  json["command_line"] = record.words;
  json["flags"] = FlagsJson(params, own);
  if (derived.evaluates()) json["evaluations"] = EvaluationsJson(record.evaluations);
  json["steps"] = StepsJson(record.timed, ShowsAccuracy(params));
  json["warmup_steps"] = StepsJson(record.warmup, ShowsAccuracy(params));
  return json.Text();
}

}  // namespace muster::bench
