#include "monitor/gpu_probe.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <array>
#include <memory>

namespace muster {
namespace {

// The part of NVML's interface that is used here, declared by hand: result codes are ints with 0 for success, device
// handles are opaque pointers.
using NvmlDevice = void*;
struct NvmlMemory {
  unsigned long long total, free, used;
};

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

Library Open(const std::string& name) { return Library(dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)); }

// NVML's functions; all set, or Load says no.
struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;

  bool Load(void* library) {
    return Get(library, "nvmlInit_v2", &init) && Get(library, "nvmlShutdown", &shutdown) &&
           Get(library, "nvmlErrorString", &error_string) &&
           Get(library, "nvmlSystemGetDriverVersion", &driver_version) &&
           Get(library, "nvmlDeviceGetCount_v2", &count) && Get(library, "nvmlDeviceGetHandleByIndex_v2", &handle) &&
           Get(library, "nvmlDeviceGetName", &name) && Get(library, "nvmlDeviceGetMemoryInfo", &memory);
  }

 private:
  template <typename Function>
  static bool Get(void* library, const char* symbol, Function** function) {
    *function = reinterpret_cast<Function*>(dlsym(library, symbol));
    return *function != nullptr;
  }
};

GpuInfo Describe(const Nvml& nvml, unsigned index) {
  GpuInfo gpu;
  gpu.name = "unknown";
  NvmlDevice device = nullptr;
  if (nvml.handle(index, &device) != 0) return gpu;
  std::array<char, 96> text{};
  if (nvml.name(device, text.data(), text.size()) == 0) gpu.name = text.data();
  NvmlMemory memory{};
  if (nvml.memory(device, &memory) == 0) {
    gpu.memory_bytes = static_cast<int64_t>(memory.total);
    gpu.memory_free_bytes = static_cast<int64_t>(memory.free);
  }
  return gpu;
}

void ListGpus(const Nvml& nvml, GpuProbe* probe) {
  if (const int error = nvml.init(); error != 0) {
    probe->why_none = fmt::format("the NVIDIA driver does not answer (NVML: {})", nvml.error_string(error));
    return;
  }
  std::array<char, 80> version{};
  if (nvml.driver_version(version.data(), version.size()) == 0) probe->driver_version = version.data();
  unsigned count = 0;
  if (const int error = nvml.count(&count); error != 0) {
    probe->why_none = fmt::format("the NVIDIA driver cannot count its GPUs (NVML: {})", nvml.error_string(error));
  } else if (count == 0) {
    probe->why_none = "the NVIDIA driver is here but sees no GPU";
  }
  for (unsigned i = 0; i < count; ++i) probe->gpus.push_back(Describe(nvml, i));
  nvml.shutdown();
}

}  // namespace

GpuProbe ProbeGpus(const GpuLibraries& libraries) {
  GpuProbe probe;
  const Library cuda = Open(libraries.cuda), library = Open(libraries.nvml);
  if (cuda == nullptr && library == nullptr) {
    probe.why_none = fmt::format("no NVIDIA driver library found ({}, {})", libraries.cuda, libraries.nvml);
    return probe;
  }
  if (library == nullptr) {
    probe.why_none = fmt::format("{} is here but {}, which lists the GPUs, is not", libraries.cuda, libraries.nvml);
    return probe;
  }
  Nvml nvml;
  if (!nvml.Load(library.get())) {
    probe.why_none =
        fmt::format("{} lacks functions that Muster needs; is the driver older than 2014?", libraries.nvml);
    return probe;
  }
  ListGpus(nvml, &probe);
  return probe;
}

}  // namespace muster
