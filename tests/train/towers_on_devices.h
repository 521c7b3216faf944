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

inline std::vector<float> Values(const Tensor& tensor) {
  const auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

}  // namespace muster::train
