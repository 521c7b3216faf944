#include "run/executor.h"

#include <chrono>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "muster/error.h"

namespace muster {
namespace {

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr int kUpdatePhase = 2;

bool IsFinite(const void* value, DType dtype) {
  return std::isfinite(dtype == DType::kFloat64 ? *static_cast<const double*>(value) : *static_cast<const float*>(value));
}

}  // namespace

Executor::Executor(Plan plan, std::vector<Device*> devices, const VariableTable& variables, const VariableMemory& memory)
    : plan_(std::move(plan)), partitions_(plan_.partitions.size()), feed_addresses_(plan_.feeds.size(), nullptr) {
  for (const ChannelSpec& channel : plan_.channels)
    channels_.push_back(std::make_unique<Channel>(static_cast<size_t>(channel.desc.byte_size())));
  for (size_t p = 0; p < partitions_.size(); ++p) {
    partitions_[p].device = devices[static_cast<size_t>(plan_.partitions[p].device_index)];
    Allocate(plan_.partitions[p], &partitions_[p]);
  }
  for (size_t f = 0; f < plan_.feeds.size(); ++f) {
    const Port& feed = plan_.feeds[f];
    if (feed.place.region == Region::kNone) continue;
    feed_addresses_[f] = AllocateBlock(&partitions_[static_cast<size_t>(feed.partition)], feed.desc.byte_size(), false);
  }
  for (size_t p = 0; p < partitions_.size(); ++p) Bind(plan_.partitions[p], variables, memory, &partitions_[p]);
  for (const Port& fetch : plan_.fetches) {
    const size_t p = static_cast<size_t>(fetch.partition);
    fetch_addresses_.push_back(AddressOf(fetch.place, plan_.partitions[p], partitions_[p], variables, memory));
  }
  if (partitions_.size() > 1) StartDrivers();
}

Executor::~Executor() { StopDrivers(); }

Executor::BoundPartition::~BoundPartition() {
  for (void* block : blocks) device->allocator()->Free(block);
}

void Executor::StartDrivers() {
  try {
    for (size_t p = 0; p < partitions_.size(); ++p) drivers_.emplace_back([this, p] { DriverLoop(p); });
  } catch (...) {
    StopDrivers();
    throw;
  }
}

void Executor::StopDrivers() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& driver : drivers_) driver.join();
  drivers_.clear();
}

char* Executor::AllocateBlock(BoundPartition* bound, int64_t bytes, bool clear) {
  if (bytes == 0) return nullptr;
  void* block = bound->device->allocator()->Allocate(static_cast<size_t>(bytes));
  bound->blocks.push_back(block);
  if (clear) std::memset(block, 0, static_cast<size_t>(bytes));
  return static_cast<char*>(block);
}

void Executor::Allocate(const Partition& partition, BoundPartition* bound) {
  bound->stream = bound->device->CreateStream();
  bound->gradients = AllocateBlock(bound, partition.gradient_bytes, true);  // padding must read as zeros
  if (partition.separate_bytes.empty()) bound->arena = AllocateBlock(bound, partition.arena_bytes, false);
  for (int64_t bytes : partition.separate_bytes) bound->separate.push_back(AllocateBlock(bound, std::max<int64_t>(bytes, 1), false));
}

void* Executor::AddressOf(const Place& place, const Partition& partition, const BoundPartition& bound, const VariableTable& variables,
                          const VariableMemory& memory) const {
  switch (place.region) {
    case Region::kNone: return nullptr;
    case Region::kArena: return bound.arena + place.offset;
    case Region::kGradient: return bound.gradients + place.offset;
    case Region::kVariable: return static_cast<char*>(memory.Address(variables.entry(place.index))) + place.offset;
    case Region::kConstant: return partition.constants[static_cast<size_t>(place.index)].raw();
    case Region::kFeed: return feed_addresses_[static_cast<size_t>(place.index)];
    case Region::kSeparate: return bound.separate[static_cast<size_t>(place.index)];
  }
  MUSTER_CHECK(false);
}

void Executor::Bind(const Partition& partition, const VariableTable& variables, const VariableMemory& memory, BoundPartition* bound) {
  auto address = [&](const Place& place) { return AddressOf(place, partition, *bound, variables, memory); };
  for (const Step& step : partition.steps) {
    BoundStep b;
    b.kernel = step.kernel.get();
    b.phase = step.phase;
    b.first_address = bound->addresses.size();
    b.args.workspace = address(step.workspace);
    b.args.stream = bound->stream.get();
    if (step.send_channel >= 0) b.send = channels_[static_cast<size_t>(step.send_channel)].get();
    if (step.recv_channel >= 0) b.receive = channels_[static_cast<size_t>(step.recv_channel)].get();
    for (const Place& in : step.inputs) bound->addresses.push_back(address(in));
    for (const Place& out : step.outputs) bound->addresses.push_back(address(out));
    bound->steps.push_back(b);
  }
  for (size_t s = 0; s < bound->steps.size(); ++s) {  // the address table no longer grows
    BoundStep& b = bound->steps[s];
    b.args.inputs = bound->addresses.data() + b.first_address;
    b.args.outputs = b.args.inputs + partition.steps[s].inputs.size();
  }
}

void Executor::Replay(BoundPartition& bound, int64_t step, StepTimes* times) {
  double* const phases[] = {&times->compute, &times->compute, &times->update};  // by phase
  int phase = 0;
  double since = Seconds();
  for (BoundStep& b : bound.steps) {
    if (b.phase != phase) {
      const double now = Seconds();
      *phases[phase] += now - since;
      since = now;
      phase = b.phase;
    }
    // Once updates have begun they are finished: half-updated variables would be worth nothing.
    if (phase != kUpdatePhase && Interrupted()) throw Error(Code::kCancelled, "interrupted");
    b.args.step = step;
    if (b.kernel != nullptr) b.kernel->Launch(b.args);
    else if (b.send != nullptr) b.send->Send(b.args.inputs[0]);
    else b.receive->Receive(b.args.outputs[0]);
    if (b.is_guarded && !IsFinite(guard_, guard_dtype_)) break;
  }
  *phases[phase] += Seconds() - since;
}

void Executor::Run(int64_t step, const std::vector<Tensor>& feeds) {
  if (feeds.size() != plan_.feeds.size())
    throw InvalidArgument(fmt::format("this plan takes {} feeds, got {}", plan_.feeds.size(), feeds.size()));
  const double start = Seconds();
  for (size_t f = 0; f < feeds.size(); ++f) {
    if (feeds[f].is_empty() || !(feeds[f].desc() == plan_.feeds[f].desc))
      throw InvalidArgument(fmt::format("feed {} must be {}, not {}", f, plan_.feeds[f].desc.ToString(), feeds[f].desc().ToString()));
    if (feed_addresses_[f] != nullptr) std::memcpy(feed_addresses_[f], feeds[f].raw(), feeds[f].byte_size());
  }
  times_ = {};
  times_.input = Seconds() - start;
  if (partitions_.size() == 1) Replay(partitions_[0], step, &times_);
  else if (partitions_.size() > 1) RunOnDrivers(step);
}

void Executor::RunTimed(int64_t step, std::vector<double>* seconds) {
  MUSTER_CHECK(partitions_.size() == 1 && feed_addresses_.empty());
  seconds->resize(partitions_[0].steps.size());
  for (size_t s = 0; s < partitions_[0].steps.size(); ++s) {
    BoundStep& b = partitions_[0].steps[s];
    b.args.step = step;
    const double start = Seconds();
    b.kernel->Launch(b.args);
    (*seconds)[s] += Seconds() - start;
  }
}

void Executor::StopUnlessFinite(int fetch) {
  if (fetch < 0 || fetch >= static_cast<int>(plan_.fetches.size()))
    throw InvalidArgument(fmt::format("there is no fetch {}: this plan has {}", fetch, plan_.fetches.size()));
  if (partitions_.size() != 1) throw InvalidArgument(fmt::format("a guard needs a plan on one device, not {}", partitions_.size()));
  const Port& port = plan_.fetches[static_cast<size_t>(fetch)];
  if (port.desc.shape.num_elements() != 1 || (port.desc.dtype != DType::kFloat32 && port.desc.dtype != DType::kFloat64))
    throw InvalidArgument(fmt::format("a guard must be a float32 or float64 scalar, not {}", port.desc.ToString()));
  guard_ = fetch_addresses_[static_cast<size_t>(fetch)];
  guard_dtype_ = port.desc.dtype;
  BoundStep* last_writer = nullptr;
  for (size_t s = 0; s < partitions_[0].steps.size(); ++s) {
    BoundStep& step = partitions_[0].steps[s];
    step.is_guarded = false;
    for (size_t o = 0; o < plan_.partitions[0].steps[s].outputs.size(); ++o)
      if (step.args.outputs[o] == guard_) last_writer = &step;
  }
  if (last_writer != nullptr) last_writer->is_guarded = true;
}

void Executor::RunOnDrivers(int64_t step) {
  const double start = Seconds();
  for (auto& channel : channels_) channel->Reopen();  // a step that failed must not fail the next one
  std::unique_lock lock(mutex_);
  error_ = nullptr;
  step_ = step;
  finished_ = 0;
  ++round_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return finished_ == drivers_.size(); });
  times_.compute = Seconds() - start;
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void Executor::DriverLoop(size_t partition) {
  int64_t seen = 0;
  for (;;) {
    int64_t step;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return round_ > seen || is_stopping_; });
      if (is_stopping_) return;
      seen = round_;
      step = step_;
    }
    std::exception_ptr failure;
    try {
      StepTimes times;
      Replay(partitions_[partition], step, &times);
    } catch (const Error& error) {
      failure = std::make_exception_ptr(error.Within(fmt::format("{}, step {}", plan_.partitions[partition].device.ToString(), step)));
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure != nullptr)
      for (auto& channel : channels_) channel->Close(failure);
    std::lock_guard lock(mutex_);
    if (failure != nullptr && error_ == nullptr) error_ = failure;
    ++finished_;
    changed_.notify_all();
  }
}

std::vector<Tensor> Executor::Fetch() const {
  std::vector<Tensor> results;
  for (size_t f = 0; f < plan_.fetches.size(); ++f) {
    const TensorDesc& desc = plan_.fetches[f].desc;
    Tensor result(desc.dtype, desc.shape);
    if (desc.layout.is_plain()) std::memcpy(result.raw(), fetch_addresses_[f], result.byte_size());
    else desc.layout.format()->Unpack(fetch_addresses_[f], result.raw());
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace muster
