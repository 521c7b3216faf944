#include "cli/gpu_flags.h"

#include "bench/later.h"
#include "session/logical_gpus.h"

namespace muster::cli {

FlagTable GpuFlags() {
  return FlagTable({
      {.name = "simulated_gpus",
       .type = FlagType::kInteger,
       .default_value = int64_t{0},
       .help = "cards to simulate on the CPU",
       .lower = 0,
       .upper = 1024,
       .important = true},
      {.name = "gpu_memory_limit_mb",
       .type = FlagType::kInteger,
       .default_value = int64_t{0},
       .help = "strict limit of each GPU, in MiB; 0: all of the card's memory",
       .lower = 0},
      {.name = "per_process_gpu_memory_fraction",
       .type = FlagType::kFloat,
       .default_value = 0.0,
       .help = "limit of each GPU as a part of its card's memory; 0: none"},
      {.name = "allow_growth",
       .type = FlagType::kBoolean,
       .default_value = false,
       .help = "take GPU memory as it is needed"},
      {.name = "visible_device_list",
       .default_value = std::string(),
       .help = "cards to use, in the order in which they are numbered, such as 1,0; empty: all"},
      {.name = "virtual_gpus_mb",
       .default_value = std::string(),
       .help = "split cards into devices with these limits: 512+512,1024 makes two of the first and one of the second"},
  });
}

GpuOptions GpuOptionsOf(const FlagValues& values) {
  GpuOptions options;
  options.simulated_gpus = static_cast<int>(values.GetInt("simulated_gpus"));
  options.memory_limit_mb = values.GetInt("gpu_memory_limit_mb");
  bench::CheckGpuMemoryLimit(options.memory_limit_mb);
  options.per_process_gpu_memory_fraction = values.GetFloat("per_process_gpu_memory_fraction");
  options.allow_growth = values.GetBool("allow_growth");
  options.visible_device_list = values.GetString("visible_device_list");
  options.virtual_devices_mb = ParseVirtualGpus(values.GetString("virtual_gpus_mb"));
  return options;
}

}  // namespace muster::cli
