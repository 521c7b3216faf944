#include "cli/gpu_flags.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "bench/later.h"
#include "muster/error.h"

namespace muster::cli {
namespace {

// "512+512,1024": cards separated by commas, the limits of a card's devices by plus signs.
std::vector<std::vector<int64_t>> VirtualDevices(const std::string& text) {
  std::vector<std::vector<int64_t>> cards;
  if (text.empty()) return cards;
  cards.emplace_back();
  for (const char* at = text.data(), *const end = at + text.size();;) {
    int64_t limit = 0;
    const auto [next, error] = std::from_chars(at, end, limit);
    if (error != std::errc{} || (next != end && *next != '+' && *next != ','))
      throw InvalidArgument(fmt::format("--virtual_gpus_mb={}: at character {} there must be a number of MiB; 512+512,1024 splits card 0 in two and "
                                        "gives card 1 one device", text, at - text.data() + 1));
    cards.back().push_back(limit);
    if (next == end) return cards;
    if (*next == ',') cards.emplace_back();
    at = next + 1;
  }
}

}  // namespace

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
      {.name = "allow_growth", .type = FlagType::kBoolean, .default_value = false, .help = "take GPU memory as it is needed"},
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
  options.virtual_devices_mb = VirtualDevices(values.GetString("virtual_gpus_mb"));
  return options;
}

}  // namespace muster::cli
