#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/gpu_options.h"

namespace muster {

// A GPU as a session sees it: /device:GPU:<its index in the list>.
struct LogicalGpu {
  int card = 0;
  int64_t memory_limit = 0;  // bytes
};

// The value of --virtual_gpus_mb, "512+512,1024": cards separated by commas, the limits of a card's devices by plus
// signs. Throws InvalidArgument naming the character that is wrong.
std::vector<std::vector<int64_t>> ParseVirtualGpus(const std::string& text);

// Which devices the options make of cards that each have "card_memory" bytes: visible cards in the order of the list,
// split ones in pieces. "num_gpus" says how many of them are wanted, -1 all. Throws InvalidArgument as gpu_options.h
// says, and if more are wanted than there are.
std::vector<LogicalGpu> LogicalGpus(const GpuOptions& options, int num_cards, int64_t card_memory, int num_gpus);

}  // namespace muster
