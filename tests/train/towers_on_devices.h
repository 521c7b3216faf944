#pragma once

#include <string>
#include <vector>

#include "muster/session.h"
#include "muster/tensor.h"

namespace muster::train {

// "/cpu:0", "/cpu:1", …
inline std::vector<std::string> CpuDevices(int count) {
  std::vector<std::string> devices;
  for (int i = 0; i < count; ++i) devices.push_back("/cpu:" + std::to_string(i));
  return devices;
}

inline SessionOptions OnCpus(int count, const std::string& backend = "cpu") {
  SessionOptions options;
  options.num_cpu_devices = count;
  options.intra_op_threads = 1;
  options.backend = backend;
  return options;
}

// "/gpu:0", "/gpu:1", …
inline std::vector<std::string> GpuDevices(int count) {
  std::vector<std::string> devices;
  for (int i = 0; i < count; ++i) devices.push_back("/gpu:" + std::to_string(i));
  return devices;
}

// GPUs whose streams run in an order that depends on the seed, and which report accesses that nothing orders.
inline SessionOptions OnSimulatedGpus(int count, uint64_t delay_seed) {
  SessionOptions options;
  options.num_gpus = count;
  options.intra_op_threads = 1;
  options.gpu.simulated_gpus = count;
  options.gpu.card_memory_mb = 256;
  options.gpu.delay_seed = delay_seed;
  options.gpu.check_hazards = true;
  return options;
}

inline std::vector<float> Values(const Tensor& tensor) {
  const auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

}  // namespace muster::train
