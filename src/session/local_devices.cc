#include "session/local_devices.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "backend/cpu/cpu_device.h"
#include "backend/cpu/cpu_table.h"
#include "backend/cpu/onednn_adapter.h"
#include "backend/reference/reference_table.h"
#include "memory/host_allocator.h"
#include "muster/error.h"

namespace muster {
namespace {

const KernelTable& TableFor(const std::string& backend) {
  if (backend == "reference") return ReferenceTable();
  if (backend == "cpu") {
    // What the CPU backend has no kernel of its own for (integers, scalars, other dtypes) the reference loops do.
    static const KernelTable table({CpuRows(), ReferenceTable().rows()});
    return table;
  }
  throw InvalidArgument(fmt::format("unknown backend \"{}\"; known: cpu, reference", backend));
}

// Threads of a team wait for each other by spinning: far more of them than CPUs bring a machine to a halt.
constexpr int kMostThreadsPerCpu = 4;

// The CPUs that this process may run on: taskset and containers count.
int UsableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// OMP_NUM_THREADS where the user set it, as every program that stands on OpenMP does; otherwise 0.
int ThreadsFromEnvironment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  return text != nullptr ? std::max(0, std::atoi(text)) : 0;
}

int ThreadsPerDevice(const SessionOptions& options) {
  const int cores = UsableCpus();
  if (options.intra_op_threads < 0 || options.intra_op_threads > kMostThreadsPerCpu * cores)
    throw InvalidArgument(fmt::format("num_intra_threads is {}, but must be between 1 and {} on this machine with {} usable CPUs; 0 takes all of them",
                                      options.intra_op_threads, kMostThreadsPerCpu * cores, cores));
  if (options.intra_op_threads > 0) return options.intra_op_threads;
  if (const int wanted = ThreadsFromEnvironment(); wanted > 0) return std::min(wanted, kMostThreadsPerCpu * cores);
  return std::max(1, cores / std::max(1, options.num_cpu_devices));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> BackendLibraries() { return {{"oneDNN", onednn::Version()}}; }

std::vector<LocalDevice> MakeLocalDevices(const SessionOptions& options) {
  if (options.num_cpu_devices < 1)
    throw InvalidArgument(fmt::format("a session needs at least 1 CPU device, not {}", options.num_cpu_devices));
  std::vector<LocalDevice> devices;
  for (int i = 0; i < options.num_cpu_devices; ++i) {
    const DeviceName name = DeviceName::Parse(fmt::format("/job:localhost/replica:0/task:0/device:CPU:{}", i));
    devices.push_back({std::make_unique<CpuDevice>(name, &HostAllocator::Process()), &TableFor(options.backend),
                       DeviceCaps{options.backend == "reference" ? 1 : ThreadsPerDevice(options)}, "CPU"});
  }
  if (options.num_gpus > 0 || options.gpu.simulated_gpus > 0) throw Unimplemented("simulated GPUs are not there yet");
  return devices;
}

}  // namespace muster
