#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/flags_help.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "cli/graph_table.h"
#include "muster/error.h"
#include "muster/graph_export.h"
#include "muster/session.h"
#include "train/options.h"

namespace muster::cli {
namespace {

const char kUsage[] =
    "muster graph [flags]: a model's graph as a table of layers, as text, for Graphviz or for TensorBoard\n";

FlagTable GraphFlags() {
  return FlagTable({
      {.name = "model",
       .default_value = std::string("resnet50"),
       .help = "the network; --list shows all",
       .important = true},
      {.name = "data_name",
       .default_value = std::string(),
       .help = "imagenet, cifar10 or mnist; empty: the first that has the model",
       .important = true},
      {.name = "batch_size",
       .type = FlagType::kInteger,
       .help = "images per step; default: the model's own",
       .lower = 1,
       .upper = 1 << 20,
       .important = true},
      {.name = "data_format",
       .type = FlagType::kEnum,
       .default_value = std::string("NHWC"),
       .help = "order of the axes of images inside the model",
       .enum_values = {"NHWC", "NCHW"},
       .important = true},
      {.name = "training",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "with gradients and updates, not inference alone",
       .important = true},
      {.name = "optimizer",
       .type = FlagType::kEnum,
       .default_value = std::string("sgd"),
       .help = "rule of --training",
       .enum_values = train::OptimizerNames(),
       .important = true},
      {.name = "device",
       .default_value = std::string("/device:CPU:0"),
       .help = "device that operations ask for; empty: none",
       .important = true},
      {.name = "format",
       .type = FlagType::kEnum,
       .default_value = std::string("layers"),
       .help =
           "layers: a table; text: a line per operation; dot: Graphviz; graphdef, pbtxt: TensorFlow's, for TensorBoard",
       .enum_values = {"layers", "text", "dot", "graphdef", "pbtxt"},
       .important = true},
      {.name = "json",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "the table of layers as JSON",
       .important = true},
      {.name = "log_device_placement",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "print the device on which each operation is placed",
       .important = true},
      {.name = "output",
       .default_value = std::string(),
       .help = "file to write; empty: standard output",
       .important = true},
      {.name = "list",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "list all models and stop",
       .important = true},
  });
}

GraphRequest RequestFromFlags(const FlagValues& values) {
  GraphRequest request;
  request.model = values.GetString("model");
  request.dataset = values.GetString("data_name");
  request.batch_size = values.FindInt("batch_size");
  request.data_format = values.GetString("data_format") == "NCHW" ? DataFormat::kNCHW : DataFormat::kNHWC;
  request.training = values.GetBool("training");
  request.optimizer = values.GetString("optimizer");
  request.device = values.GetString("device");
  return request;
}

void CheckCombinations(const FlagValues& values) {
  if (values.is_set("optimizer") && !values.GetBool("training"))
    throw InvalidArgument("--optimizer has no effect without --training");
  if (values.GetBool("json") && values.is_set("format") && values.GetString("format") != "layers")
    throw InvalidArgument(fmt::format("--json and --format={} exclude each other", values.GetString("format")));
  if (values.GetString("format") == "graphdef" && values.GetString("output").empty() && isatty(STDOUT_FILENO) == 1)
    throw InvalidArgument("--format=graphdef is binary: name a file with --output, or take --format=pbtxt");
}

std::string Placement(const Graph& graph) {
  std::string text;
  for (const std::string& line : Session(&graph).DevicePlacement()) text += line + "\n";
  return text;
}

std::string Render(const FlagValues& values, const ModelGraph& model) {
  const std::string& format = values.GetString("format");
  if (values.GetBool("json")) return LayerTableJson(model).dump(2) + "\n";
  if (values.GetBool("log_device_placement")) return Placement(model.graph);
  if (format == "text") return GraphToText(model.graph);
  if (format == "dot") return GraphToDot(model.graph);
  if (format == "graphdef") return GraphToGraphDef(model.graph);
  if (format == "pbtxt") return GraphToGraphDefText(model.graph);
  return LayerTable(model);
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
  CheckCombinations(values);
  const std::string& output = values.GetString("output");
  if (!output.empty()) CheckWritable(output);
  const std::string text =
      values.GetBool("list") ? ModelList() : Render(values, *BuildModelGraph(RequestFromFlags(values)));
  if (!output.empty()) {
    WriteFileAtomically(output, text);
  } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw Error(Code::kDataLoss, "standard output takes no more");
  }
  return kSuccess;
}

}  // namespace muster::cli
