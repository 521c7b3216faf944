#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// Which GPUs a session sees and what they may take; names and meanings are TensorFlow's GPUOptions where it has them.
//
// A card is physical; a device (/device:GPU:i) is logical: by default one for each visible card, in the order of the
// list, or several for a card that is split. Errors are InvalidArgument, thrown when the session is made: a list entry
// that names no card or one twice, a fraction outside (0, 1], a fraction or a limit together with virtual devices,
// limits above a card's memory.
struct GpuOptions {
  // Cards to simulate on host memory: streams, memory limits and numbering of GPUs with the kernels of the CPU backend.
  int simulated_gpus = 0;
  int64_t card_memory_mb = 16384;  // of each simulated card

  // Strict limit of each device, in MiB of 2^20 bytes; 0: all of the card's memory.
  int64_t memory_limit_mb = 0;
  // The limit as a part of the card's memory, 0 for none given; excludes memory_limit_mb.
  double per_process_gpu_memory_fraction = 0;
  // Take memory as it is needed instead of the whole limit with the first allocation.
  bool allow_growth = false;
  // "1,0": the cards that exist for this session, in the order in which they are numbered; empty: all.
  std::string visible_device_list;
  // For each visible card the limits in MiB of the devices into which it is split; an empty list leaves a card whole.
  // Shorter than the number of visible cards: the rest stays whole.
  std::vector<std::vector<int64_t>> virtual_devices_mb;

  // Simulation only: random delays before each piece of work of a stream, so that orders differ from run to run of
  // different seeds; 0: none.
  uint64_t delay_seed = 0;
  // Simulation only: checks that each access to memory is ordered after the ones that it conflicts with; a missing
  // wait fails the step with an Internal error, whatever the timing. Costs time.
  bool check_hazards = false;
};

}  // namespace muster
