#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/file.h"
#include "base/flags_help.h"
#include "base/output_flags.h"
#include "base/standard_output.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "cli/graph_flags.h"
#include "cli/graph_table.h"
#include "cli/partition_table.h"
#include "muster/error.h"
#include "muster/graph_export.h"
#include "muster/session.h"
#include "session/logical_gpus.h"

namespace muster::cli {
namespace {

const char kUsage[] =
    "muster graph [flags]: a model's graph as a table of layers, as text, for Graphviz or for TensorBoard\n";

// Who brings GPUs means to compute on them.
std::string DeviceOf(const FlagValues& values) {
  const bool has_gpus = values.FindInt("simulated_gpus").value_or(0) > 0;
  return has_gpus && !values.is_set("device") ? "/device:GPU:0" : values.GetString("device");
}

GraphRequest RequestFromFlags(const FlagValues& values) {
  GraphRequest request;
  request.model = values.GetString("model");
  request.dataset = values.GetString("data_name");
  request.batch_size = values.FindInt("batch_size");
  request.data_format = values.GetString("data_format") == "NCHW" ? DataFormat::kNCHW : DataFormat::kNHWC;
  request.training = values.GetBool("training");
  request.optimizer = values.GetString("optimizer");
  request.device = DeviceOf(values);
  request.num_towers = static_cast<int>(values.FindInt("num_gpus").value_or(0));
  request.variable_update = values.GetString("variable_update");
  request.parameters_on_cpu = values.GetString("local_parameter_device") == "cpu";
  request.all_reduce_spec = values.GetString("all_reduce_spec");
  request.bucket_mb = values.GetInt("bucket_mb");
  return request;
}

// The devices asked for, or as many as the towers need.
SessionOptions SessionFromFlags(const FlagValues& values) {
  const bool on_cpu = DeviceName::Parse(DeviceOf(values)).type == "CPU";
  const int64_t towers = values.FindInt("num_gpus").value_or(0);
  SessionOptions options;
  options.num_cpu_devices =
      static_cast<int>(values.FindInt("num_cpu_devices").value_or(on_cpu ? std::max<int64_t>(1, towers) : 1));
  options.gpu.simulated_gpus = static_cast<int>(values.FindInt("simulated_gpus").value_or(on_cpu ? 0 : towers));
  options.gpu.visible_device_list = values.GetString("visible_device_list");
  options.gpu.virtual_devices_mb = ParseVirtualGpus(values.GetString("virtual_gpus_mb"));
  options.allow_soft_placement = values.GetBool("allow_soft_placement");
  return options;
}

// Soft placement would put two towers on one device, and nobody would see why nothing is gained.
void CheckTowersHaveDevices(const Session& session, const FlagValues& values) {
  const int64_t towers = values.FindInt("num_gpus").value_or(0);
  const std::string type = DeviceName::Parse(DeviceOf(values)).type.value_or("");
  const std::vector<DeviceInfo> devices = session.Devices();
  const auto there = std::count_if(devices.begin(), devices.end(),
                                   [&](const DeviceInfo& d) { return DeviceName::Parse(d.name).type == type; });
  if (towers <= there) return;
  const bool one = there == 1, cpu = type == "CPU";
  throw InvalidArgument(fmt::format(
      "--num_gpus={}: there {} {} {}{} ({})", towers, one ? "is" : "are", there, cpu ? "CPU device" : "GPU",
      one ? "" : "s", cpu ? "--num_cpu_devices" : "--simulated_gpus, --visible_device_list, --virtual_gpus_mb"));
}

// Operations whose device does not exist, or that it cannot run: nothing moves without a word.
void NoteMoved(const Session& session) {
  for (const SoftPlacement& moved : session.SoftPlacements())
    std::fprintf(stderr, "muster graph: %s\n", moved.ToString().c_str());
}

std::string Placement(const Session& session) {
  std::string text;
  for (const std::string& line : session.DevicePlacement()) text += line + "\n";
  return text;
}

std::string Partitions(Session& session, const ModelGraph& model, bool json) {
  std::vector<muster::Output> feeds;
  for (NodeId id : model.step)
    if (model.graph.node(id).kind == OpKind::kPlaceholder) feeds.push_back({id, 0});
  const auto runner = session.Prepare(feeds, {}, {model.step.back()});
  if (json) return PartitionJson(runner->Summary(), runner->stats()).Text();
  return PartitionTable(runner->Summary(), runner->stats());
}

std::string Export(const std::string& format, const Graph& graph) {
  if (format == "text") return GraphToText(graph);
  if (format == "dot") return GraphToDot(graph);
  if (format == "graphdef") return GraphToGraphDef(graph);
  return GraphToGraphDefText(graph);
}

std::string Render(const FlagValues& values, const ModelGraph& model) {
  const std::string& format = values.GetString("format");
  const bool json = values.GetBool("json");
  if (values.GetBool("partitions") || values.GetBool("log_device_placement") || values.GetBool("placed")) {
    Session session(&model.graph, SessionFromFlags(values));
    CheckTowersHaveDevices(session, values);
    NoteMoved(session);
    if (values.GetBool("partitions")) return Partitions(session, model, json);
    if (values.GetBool("log_device_placement")) return Placement(session);
    return Export(format, session.PlacedGraph());
  }
  if (json) return LayerTableJson(model).Text();
  if (format == "layers") return LayerTable(model);
  return Export(format, model.graph);
}

std::string RenderList(const FlagValues& values) {
  return values.GetBool("json") ? ModelListJson().Text() : ModelList();
}

}  // namespace

int GraphCommand(const std::vector<std::string>& words) {
  const FlagTable table = GraphFlags();
  const FlagValues values = ParseFlags(table, words);
  if (values.help() || values.helpfull()) {
    const std::string text = values.help() ? HelpText(kUsage, table) : HelpFullText(kUsage, table);
    std::fputs(text.c_str(), stdout);
    return kSuccess;
  }
  RejectPositional(values);
  CheckGraphFlags(values);
  const std::string& output = values.GetString("output");
  if (!output.empty()) CheckFileFlag("output", output);
  const std::string text =
      values.GetBool("list") ? RenderList(values) : Render(values, *BuildModelGraph(RequestFromFlags(values)));
  if (!output.empty()) {
    WriteFileAtomically(output, text);
  } else {
    WriteStandardOutput(text);
  }
  return kSuccess;
}

}  // namespace muster::cli
