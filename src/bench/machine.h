#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace muster::bench {

// The value of --device when nobody chose one: "gpu" where Muster can use one, else "cpu".
std::string DefaultDevice();

// What a result file says about the machine. Read from /proc, /sys and the system; what is unknown stays empty or 0.
struct MachineFacts {
  std::string host;
  std::string system;  // "Linux 6.1.0 x86_64"
  std::string cpu_model;
  int num_cpus = 0;    // logical processors that this process may use
  double cpu_mhz = 0;  // of the first processor, now
  int64_t memory_total_bytes = 0;
  int64_t memory_available_bytes = 0;
  std::vector<std::pair<std::string, int64_t>> caches;  // of the first processor: "L1d" → bytes
  std::vector<std::string> instruction_sets;            // those that matter for speed, as the kernel spells them
};

MachineFacts ReadMachineFacts();

}  // namespace muster::bench
