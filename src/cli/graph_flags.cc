#include "cli/graph_flags.h"

#include <unistd.h>

#include <fmt/format.h>

#include "muster/error.h"
#include "train/options.h"

namespace muster::cli {

namespace {

// The model and its graph.
FlagTable ModelFlags() {
  return FlagTable({
      {.name = "model",
       .default_value = std::string("resnet50"),
       .help = "the network; --list shows all",
       .important = true},
      {.name = "data_name",
       .default_value = std::string(),
       .help = "imagenet, cifar10, mnist or coco; empty: the first that has the model",
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
  });
}

// Devices and towers.
FlagTable TowerFlags() {
  return FlagTable({
      {.name = "device",
       .default_value = std::string("/device:CPU:0"),
       .help = "device that operations ask for; empty: none",
       .important = true},
      {.name = "num_gpus",
       .type = FlagType::kInteger,
       .help = "towers, with --training: on the devices 0 to N-1 of the type of --device, cpu or gpu",
       .lower = 1,
       .upper = 1024,
       .important = true},
      {.name = "variable_update",
       .type = FlagType::kEnum,
       .default_value = std::string("parameter_server"),
       .help = "how towers share variables",
       .enum_values = {"parameter_server", "replicated", "independent"}},
      {.name = "local_parameter_device",
       .type = FlagType::kEnum,
       .default_value = std::string("gpu"),
       .help = "where towers keep or sum what they share: gpu, on their own devices",
       .enum_values = {"cpu", "gpu"}},
      {.name = "all_reduce_spec",
       .default_value = std::string(),
       .help = "how replicated towers sum gradients, as in muster bench"},
      {.name = "bucket_mb",
       .type = FlagType::kInteger,
       .default_value = int64_t{25},
       .help = "gradients that replicated towers exchange together, in MiB (the first 1); 0: each by itself",
       .lower = 0,
       .upper = 1 << 20},
  });
}

// What is shown.
FlagTable ShownFlags() {
  return FlagTable({
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
       .help = "the table of layers, of --partitions or of --list as JSON",
       .important = true},
      {.name = "log_device_placement",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "print the device on which each operation is placed; on standard error those that soft placement moved",
       .important = true},
      {.name = "partitions",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "print what each device does in a step and every transfer with its bytes",
       .important = true},
      {.name = "placed",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "in text, dot, graphdef and pbtxt: the devices that operations have, not those they ask for",
       .important = true},
      {.name = "output",
       .default_value = std::string(),
       .help = "file to write; empty: standard output",
       .important = true},
      {.name = "list",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "list all models with their sizes and stop",
       .important = true},
  });
}

// Where operations can be placed.
FlagTable PlacementFlags() {
  return FlagTable({
      {.name = "num_cpu_devices",
       .type = FlagType::kInteger,
       .help = "CPU devices to place on; default: as --num_gpus and --device=cpu say, else 1",
       .lower = 1,
       .upper = 1024},
      {.name = "simulated_gpus",
       .type = FlagType::kInteger,
       .help = "simulated GPUs to place on; default: as --num_gpus and --device=gpu say, else 0",
       .lower = 0,
       .upper = 1024},
      {.name = "visible_device_list",
       .default_value = std::string(),
       .help = "cards to use, in the order in which they are numbered, such as 1,0; empty: all"},
      {.name = "virtual_gpus_mb",
       .default_value = std::string(),
       .help = "split cards into devices with these limits: 512+512,1024 makes two of the first and one of the second"},
      {.name = "allow_soft_placement",
       .type = FlagType::kBoolean,
       .default_value = true,
       .help = "place an operation elsewhere in its task if its device does not exist or has no kernel for it"},
  });
}

}  // namespace

FlagTable GraphFlags() { return ModelFlags().Plus(TowerFlags()).Plus(ShownFlags()).Plus(PlacementFlags()); }

namespace {

// What is a table of all models whatever else is asked for.
void CheckListFlags(const FlagValues& values) {
  const FlagTable table = GraphFlags();
  for (const FlagSpec& spec : table.specs()) {
    const bool goes_with_it = spec.name == "list" || spec.name == "json" || spec.name == "output";
    if (values.is_set(spec.name) && !goes_with_it)
      throw InvalidArgument(fmt::format("--{} has no effect with --list, which shows all models", spec.name));
  }
}

}  // namespace

void CheckGraphFlags(const FlagValues& values) {
  if (values.GetBool("list")) return CheckListFlags(values);
  if (values.is_set("optimizer") && !values.GetBool("training"))
    throw InvalidArgument("--optimizer has no effect without --training");
  if (values.has_value("num_gpus") && !values.GetBool("training"))
    throw InvalidArgument("--num_gpus has no effect without --training: towers are for training");
  for (const char* flag : {"variable_update", "local_parameter_device"})
    if (values.is_set(flag) && !values.has_value("num_gpus"))
      throw InvalidArgument(fmt::format("--{} has no effect without --num_gpus", flag));
  for (const char* flag : {"all_reduce_spec", "bucket_mb"})
    if (values.is_set(flag) && values.GetString("variable_update") != "replicated")
      throw InvalidArgument(fmt::format("--{} has no effect without --variable_update=replicated", flag));
  if (values.GetBool("json") && values.is_set("format") && values.GetString("format") != "layers")
    throw InvalidArgument(fmt::format("--json and --format={} exclude each other", values.GetString("format")));
  const std::string& format = values.GetString("format");
  const bool on_devices = values.GetBool("partitions") || values.GetBool("log_device_placement");
  if (values.GetBool("partitions") && values.GetBool("log_device_placement"))
    throw InvalidArgument("--partitions and --log_device_placement exclude each other");
  if (on_devices && values.is_set("format"))
    throw InvalidArgument(fmt::format("--format={} has no effect with --partitions or --log_device_placement", format));
  for (const char* flag :
       {"num_cpu_devices", "simulated_gpus", "visible_device_list", "virtual_gpus_mb", "allow_soft_placement"})
    if (values.is_set(flag) && !on_devices && !values.GetBool("placed"))
      throw InvalidArgument(
          fmt::format("--{} has no effect without --partitions, --log_device_placement or --placed", flag));
  if (values.GetBool("placed") && (on_devices || format == "layers"))
    throw InvalidArgument("--placed needs --format=text, dot, graphdef or pbtxt");
  if (format == "graphdef" && values.GetString("output").empty() && isatty(STDOUT_FILENO) == 1)
    throw InvalidArgument("--format=graphdef is binary: name a file with --output, or take --format=pbtxt");
}

}  // namespace muster::cli
