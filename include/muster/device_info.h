#pragma once

#include <cstdint>
#include <string>

namespace muster {

// A device of a session: what it is, and its memory now.
struct DeviceInfo {
  std::string name;              // "/job:localhost/replica:0/task:0/device:GPU:1"
  int physical_id = -1;          // the card; -1 for a CPU
  bool uses_host_memory = true;  // its memory is the host's, as that of CPUs and simulated GPUs
  std::string description;       // "simulated GPU, card 0, 2048 MiB"
  int64_t memory_limit = 0;      // bytes; 0: none known
  int64_t bytes_in_use = 0;      // by what the session's plans and variables hold
  int64_t peak_bytes_in_use = 0;
};

}  // namespace muster
