#include "bench/flags.h"

#include "bench/param_table.h"

namespace muster::bench {

FlagTable PeerFlags() {
  std::vector<FlagSpec> specs;
  for (const ParamField& field : BenchParamTable().fields()) specs.push_back(field.spec);
  return FlagTable(std::move(specs));
}

namespace {

void AddSimulationFlags(const std::string& group, std::vector<FlagSpec>* specs) {
  specs->push_back({.name = "simulated_gpus",
                    .type = FlagType::kInteger,
                    .default_value = int64_t{0},
                    .help = "GPUs to simulate on host memory, for --device=gpu",
                    .group = group,
                    .lower = 0,
                    .upper = 1024,
                    .important = true});
  specs->push_back({.name = "gpu_memory_limit_mb",
                    .type = FlagType::kInteger,
                    .default_value = int64_t{0},
                    .help = "memory limit of each GPU in MiB; 0: all that the card has",
                    .group = group,
                    .lower = 0,
                    .upper = 1 << 30,
                    .important = true});
  specs->push_back({.name = "visible_device_list",
                    .type = FlagType::kString,
                    .default_value = std::string(),
                    .help = "cards to use, in the order in which they are numbered, such as 1,0; empty: all",
                    .group = group});
  specs->push_back(
      {.name = "virtual_gpus_mb",
       .type = FlagType::kString,
       .default_value = std::string(),
       .help = "split cards into devices with these limits: 512+512,1024 makes two of the first and one of the second",
       .group = group});
  specs->push_back({.name = "gpu_delay_seed",
                    .type = FlagType::kInteger,
                    .default_value = int64_t{0},
                    .help = "seed of random delays in the streams of simulated GPUs; 0: no delays",
                    .group = group,
                    .lower = 0});
  specs->push_back({.name = "check_hazards",
                    .type = FlagType::kBoolean,
                    .default_value = false,
                    .help = "simulated GPUs check that conflicting accesses to memory are ordered",
                    .group = group});
}

}  // namespace

FlagTable OwnFlags() {
  const std::string group = "Muster's own";
  std::vector<FlagSpec> specs;
  specs.push_back({.name = "json",
                   .type = FlagType::kString,
                   .help = "write a result file (docs/bench_json.md)",
                   .group = group,
                   .important = true});
  specs.push_back({.name = "check_nan",
                   .type = FlagType::kBoolean,
                   .help = "stop at a loss that is not finite; unset: only with your own rate",
                   .group = group});
  specs.push_back({.name = "gradient_combine",
                   .type = FlagType::kEnum,
                   .default_value = std::string("mean"),
                   .help = "what becomes of the devices' gradients; tf_cnn_benchmarks' replicated mode adds them",
                   .group = group,
                   .enum_values = {"mean", "sum"},
                   .important = true});
  specs.push_back({.name = "bucket_mb",
                   .type = FlagType::kInteger,
                   .default_value = int64_t{25},
                   .help = "replicated: gradients exchanged together, in MiB (the first 1); 0: each by itself",
                   .group = group,
                   .lower = 0,
                   .upper = 1 << 20});
  specs.push_back({.name = "batch_norm_statistics",
                   .type = FlagType::kEnum,
                   .default_value = std::string("first_tower"),
                   .help = "whose batches move the running averages of batch norm",
                   .group = group,
                   .enum_values = {"first_tower", "mean", "synchronised"}});
  specs.push_back({.name = "use_bf16",
                   .type = FlagType::kBoolean,
                   .default_value = false,
                   .help = "compute in bfloat16: activations and casts of the weights, which stay float32",
                   .group = group,
                   .important = true});
  specs.push_back({.name = "recompute",
                   .type = FlagType::kEnum,
                   .default_value = std::string("none"),
                   .help = "auto: compute activations again in the backward pass if they do not fit (docs/memory.md)",
                   .group = group,
                   .enum_values = {"none", "auto"},
                   .important = true});
  specs.push_back({.name = "host_memory_limit_mb",
                   .type = FlagType::kInteger,
                   .default_value = int64_t{0},
                   .help = "memory of the host to stay within, in MiB; 0: what is free",
                   .group = group,
                   .lower = 0,
                   .upper = 1 << 30});
  AddSimulationFlags(group, &specs);
  specs.push_back(
      {.name = "allow_soft_placement",
       .type = FlagType::kBoolean,
       .default_value = true,
       .help = "place an operation elsewhere in its task if its device does not exist or has no kernel for it",
       .group = group});
  specs.push_back({.name = "dump_passes",
                   .type = FlagType::kString,
                   .help = "folder for the graph before and after each compiler pass",
                   .group = group});
  specs.push_back({.name = "log_device_placement",
                   .type = FlagType::kBoolean,
                   .default_value = false,
                   .help = "print on standard error where each operation is placed",
                   .group = group});
  specs.push_back({.name = "sweep",
                   .type = FlagType::kString,
                   .help = "run a grid, print one table: \"num_gpus=1,2,4;batch_size=16,32\"",
                   .group = group,
                   .important = true});
  specs.push_back(
      {.name = "sweep_csv", .type = FlagType::kString, .help = "--sweep: the table as CSV", .group = group});
  return FlagTable(std::move(specs));
}

BenchParams ParamsFromFlags(const FlagValues& values) {
  BenchParams params;
  for (const ParamField& field : BenchParamTable().fields()) SetParam(params, field, values.Get(field.spec.name));
  return params;
}

OwnParams OwnParamsFromFlags(const FlagValues& values) {
  OwnParams own;
  own.json = values.FindString("json");
  own.gradient_combine = values.GetString("gradient_combine");
  own.bucket_mb = values.GetInt("bucket_mb");
  own.batch_norm_statistics = values.GetString("batch_norm_statistics");
  own.use_bf16 = values.GetBool("use_bf16");
  own.recompute = values.GetString("recompute");
  own.host_memory_limit_mb = values.GetInt("host_memory_limit_mb");
  own.simulated_gpus = values.GetInt("simulated_gpus");
  own.gpu_memory_limit_mb = values.GetInt("gpu_memory_limit_mb");
  own.visible_device_list = values.GetString("visible_device_list");
  own.virtual_gpus_mb = values.GetString("virtual_gpus_mb");
  own.allow_soft_placement = values.GetBool("allow_soft_placement");
  own.gpu_delay_seed = values.GetInt("gpu_delay_seed");
  own.check_hazards = values.GetBool("check_hazards");
  own.dump_passes = values.FindString("dump_passes");
  own.log_device_placement = values.GetBool("log_device_placement");
  if (values.has_value("check_nan")) own.check_nan = values.GetBool("check_nan");
  return own;
}

}  // namespace muster::bench
