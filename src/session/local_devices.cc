#include "session/local_devices.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "backend/cpu/cores.h"
#include "backend/cpu/cpu_device.h"
#include "backend/cpu/cpu_table.h"
#include "backend/cpu/onednn_adapter.h"
#include "backend/reference/reference_table.h"
#include "backend/sim/sim_device.h"
#include "backend/sim/sim_table.h"
#include "memory/host_allocator.h"
#include "muster/error.h"
#include "muster/half_precision.h"
#include "session/logical_gpus.h"

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

int ThreadsPerDevice(const SessionOptions& options, int devices) {
  const int cores = UsableCpus();
  if (options.intra_op_threads < 0 || options.intra_op_threads > kMostThreadsPerCpu * cores)
    throw InvalidArgument(
        fmt::format("num_intra_threads is {}, but must be between 1 and {} on this machine with {} usable CPUs; 0 "
                    "takes all of them",
                    options.intra_op_threads, kMostThreadsPerCpu * cores, cores));
  if (options.intra_op_threads > 0) return options.intra_op_threads;
  if (const int wanted = ThreadsFromEnvironment(); wanted > 0) return std::min(wanted, kMostThreadsPerCpu * cores);
  return std::max(1, cores / std::max(1, devices));
}

}  // namespace

bool HasInstructionsFor(DType dtype) {
  if (dtype == DType::kBFloat16) return onednn::HasBFloat16();
  return dtype != DType::kFloat16;
}

std::vector<std::pair<std::string, std::string>> BackendLibraries() { return {{"oneDNN", onednn::Version()}}; }

namespace {

DeviceName LocalName(const char* type, int index) {
  return DeviceName::Parse(fmt::format("/job:localhost/replica:0/task:0/device:{}:{}", type, index));
}

const KernelTable& SimTableFor(const std::string& backend) {
  return backend == "reference" ? SimReferenceTable() : SimCpuTable();
}

// Threads of the kernels of each of "devices" devices.
DeviceCaps CapsFor(const SessionOptions& options, int devices) {
  return {options.backend == "reference" ? 1 : ThreadsPerDevice(options, devices)};
}

// Says once for each kind of device that there are more of them than cores.
void WarnOfSharedCores(const char* kind, int devices, size_t cores, std::atomic<bool>* has_warned) {
  if (static_cast<size_t>(devices) > cores && !has_warned->exchange(true))
    fmt::print(stderr, "warning: {} {} share {} core{}; they will slow each other down\n", devices, kind, cores,
               cores == 1 ? "" : "s");
}

// Several CPU devices get cores of their own, unless the user wants more threads than those have: then nothing is
// bound.
std::vector<HardwareThreads> CoresOfCpus(const SessionOptions& options) {
  const std::vector<HardwareThreads> anywhere(static_cast<size_t>(options.num_cpu_devices));
  if (options.num_cpu_devices == 1) return anywhere;
  const std::vector<HardwareThreads> cores = UsableCores();
  static std::atomic<bool> has_warned{false};
  WarnOfSharedCores("CPU devices", options.num_cpu_devices, cores.size(), &has_warned);
  std::vector<HardwareThreads> dealt = DealCores(cores, options.num_cpu_devices);
  const auto threads = static_cast<size_t>(CapsFor(options, options.num_cpu_devices).threads);
  for (const HardwareThreads& own : dealt)
    if (own.size() < threads) return anywhere;
  return dealt;
}

std::string CpuText(const HardwareThreads& own) {
  return own.empty() ? "CPU"
                     : fmt::format("CPU, hardware thread{} {}", own.size() == 1 ? "" : "s", fmt::join(own, ","));
}

void AddCpus(const SessionOptions& options, const SimSettings* checked, std::vector<LocalDevice>* devices) {
  if (options.num_cpu_devices < 1)
    throw InvalidArgument(fmt::format("a session needs at least 1 CPU device, not {}", options.num_cpu_devices));
  const std::vector<HardwareThreads> cores = CoresOfCpus(options);
  for (int i = 0; i < options.num_cpu_devices; ++i) {
    LocalDevice local;
    if (checked != nullptr)
      local.device = std::make_unique<CheckedCpu>(LocalName("CPU", i), &HostAllocator::Process(), *checked);
    else local.device = std::make_unique<CpuDevice>(LocalName("CPU", i), &HostAllocator::Process());
    local.kernels = checked != nullptr ? &SimTableFor(options.backend) : &TableFor(options.backend);
    local.caps = CapsFor(options, options.num_cpu_devices);
    const HardwareThreads& own = cores[static_cast<size_t>(i)];
    local.adopt_thread = [own] { BindThisThread(own); };  // OpenMP's threads inherit it
    local.description = CpuText(own);
    devices->push_back(std::move(local));
  }
}

std::vector<LogicalGpu> WantedGpus(const SessionOptions& options) {
  const GpuOptions& gpu = options.gpu;
  if (gpu.simulated_gpus < 0 || gpu.card_memory_mb < 1)
    throw InvalidArgument(
        fmt::format("cannot simulate {} GPUs with {} MiB each", gpu.simulated_gpus, gpu.card_memory_mb));
  return LogicalGpus(gpu, gpu.simulated_gpus, gpu.card_memory_mb << 20, options.num_gpus);
}

void AddSimulatedGpus(const SessionOptions& options, const std::vector<LogicalGpu>& gpus, const SimSettings& settings,
                      std::vector<LocalDevice>* devices) {
  static std::atomic<bool> has_warned{false};
  if (gpus.size() > 1)
    WarnOfSharedCores("simulated GPUs", static_cast<int>(gpus.size()), UsableCores().size(), &has_warned);
  for (size_t i = 0; i < gpus.size(); ++i) {
    LocalDevice local;
    local.device = std::make_unique<SimGpu>(LocalName("GPU", static_cast<int>(i)), gpus[i].memory_limit,
                                            options.gpu.allow_growth, settings);
    local.kernels = &SimTableFor(options.backend);
    local.caps = CapsFor(options, static_cast<int>(gpus.size()));
    local.description = fmt::format("simulated GPU, card {}, {} MiB", gpus[i].card, gpus[i].memory_limit >> 20);
    local.physical_id = gpus[i].card;
    devices->push_back(std::move(local));
  }
}

}  // namespace

std::vector<LocalDevice> MakeLocalDevices(const SessionOptions& options) {
  const std::vector<LogicalGpu> gpus = WantedGpus(options);
  SimSettings settings{options.gpu.delay_seed, nullptr};
  if (options.gpu.check_hazards && !gpus.empty()) settings.hazards = std::make_shared<HazardChecker>();
  std::vector<LocalDevice> devices;
  TableFor(options.backend);  // an unknown backend is refused first
  AddCpus(options, settings.hazards != nullptr ? &settings : nullptr, &devices);
  AddSimulatedGpus(options, gpus, settings, &devices);
  return devices;
}

}  // namespace muster
