#include "backend/sim/sim_device.h"

#include <fmt/format.h>

#include "memory/bfc_allocator.h"
#include "memory/host_memory.h"

namespace muster {
namespace {

constexpr const char* kStreamNames[kNumStreamKinds] = {"compute", "copy-in", "copy-out", "exchange"};

std::string ShortName(const DeviceName& name) { return fmt::format("{}:{}", *name.type, *name.index); }

}  // namespace

SimGpu::SimGpu(DeviceName name, int64_t memory_limit, bool allow_growth, const SimSettings& settings)
    : name_(std::move(name)) {
  BfcOptions options;
  options.name = fmt::format("GPU_{}_bfc", *name_.index);
  options.memory_limit = static_cast<size_t>(memory_limit);
  options.allow_growth = allow_growth;
  options.split_exactly = true;
  options.grow_in_place = true;  // what the plan says fits must fit
  allocator_ = std::make_unique<BfcAllocator>(std::make_unique<HostMemory>(), std::move(options));
  for (size_t kind = 0; kind < kNumStreamKinds; ++kind)
    streams_[kind] =
        std::make_unique<ThreadStream>(fmt::format("{} {} stream", ShortName(name_), kStreamNames[kind]), settings);
}

SimGpu::~SimGpu() = default;

CheckedCpu::CheckedCpu(DeviceName name, Allocator* allocator, const SimSettings& settings)
    : name_(std::move(name)), allocator_(allocator), stream_(ShortName(name_), settings.hazards) {}

}  // namespace muster
