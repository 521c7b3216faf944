#include "run/bound_plan.h"

#include <algorithm>

#include "base/check.h"
#include "run/host_copy.h"

namespace muster {
namespace {

constexpr double kPollEvery = 0.02;  // seconds

}  // namespace

BoundPlan::BoundPlan(const Plan& plan, const std::vector<Device*>& devices, const VariableTable& variables,
                     const VariableMemory& memory)
    : plan_(plan), devices_(devices), variables_(variables), memory_(memory), partitions_(plan.partitions.size()) {
  for (size_t c = 0; c < plan.channels.size(); ++c) channels_.push_back(std::make_unique<Channel>());
  for (size_t p = 0; p < partitions_.size(); ++p) {
    partitions_[p].device = devices_[static_cast<size_t>(plan.partitions[p].device_index)];
    Allocate(plan.partitions[p], &partitions_[p]);
  }
  for (const Port& feed : plan.feeds)
    feeds_.push_back(feed.place.region == Region::kNone
                         ? nullptr
                         : AllocateBlock(&partitions_[static_cast<size_t>(feed.partition)], feed.desc.byte_size()));
  for (const EventSpec& event : plan.events) {
    const muster::Partition& p = plan.partitions[static_cast<size_t>(event.partition)];
    events_.push_back(
        devices_[static_cast<size_t>(p.streams[static_cast<size_t>(event.stream)].device_index)]->CreateEvent());
  }
  for (size_t p = 0; p < partitions_.size(); ++p) Bind(p);
  for (const Port& fetch : plan.fetches)
    fetches_.push_back(AddressOf(fetch.place, static_cast<size_t>(fetch.partition)));
}

BoundPlan::Partition::~Partition() {
  for (void* block : blocks) device->allocator()->Free(block);
}

char* BoundPlan::AllocateBlock(Partition* bound, int64_t bytes) {
  if (bytes == 0) return nullptr;
  void* const block = bound->device->allocator()->Allocate(static_cast<size_t>(bytes));
  bound->blocks.push_back(block);
  return static_cast<char*>(block);
}

void BoundPlan::Allocate(const muster::Partition& partition, Partition* bound) {
  bound->gradients = AllocateBlock(bound, partition.gradient_bytes);
  if (partition.gradient_bytes > 0)  // padding must read as zeros
    ClearOn(*bound->device, bound->gradients, static_cast<size_t>(partition.gradient_bytes));
  bound->channels = AllocateBlock(bound, partition.channel_bytes);
  BindConstants(partition, bound);
  if (partition.separate_bytes.empty()) bound->arena = AllocateBlock(bound, partition.arena_bytes);
  for (int64_t bytes : partition.separate_bytes)
    bound->separate.push_back(AllocateBlock(bound, std::max<int64_t>(bytes, 1)));
  for (const StreamSpec& spec : partition.streams) {
    if (std::find(streams_.begin(), streams_.end(), StreamOf(spec)) == streams_.end())
      streams_.push_back(StreamOf(spec));
    is_asynchronous_ = is_asynchronous_ || devices_[static_cast<size_t>(spec.device_index)]->is_asynchronous();
  }
}

// A host's kernels read constants where the plan has them; another device gets copies, side by side.
void BoundPlan::BindConstants(const muster::Partition& partition, Partition* bound) {
  int64_t bytes = 0;
  for (const Tensor& constant : partition.constants) {
    bound->constants.push_back(constant.raw());
    bytes += AlignUp(static_cast<int64_t>(constant.byte_size()));
  }
  if (!bound->device->is_asynchronous()) return;
  char* next = AllocateBlock(bound, bytes);
  for (size_t c = 0; c < bound->constants.size(); ++c) {
    const size_t size = partition.constants[c].byte_size();
    CopyFromHost(*bound->device, next, bound->constants[c], size);
    bound->constants[c] = next;
    next += AlignUp(static_cast<int64_t>(size));
  }
}

Stream* BoundPlan::StreamOf(const StreamSpec& spec) const {
  return devices_[static_cast<size_t>(spec.device_index)]->stream(spec.kind);
}

void* BoundPlan::AddressOf(const Place& place, size_t partition) const {
  const Partition& bound = partitions_[partition];
  switch (place.region) {
    case Region::kNone: return nullptr;
    case Region::kArena: return bound.arena + place.offset;
    case Region::kGradient: return bound.gradients + place.offset;
    case Region::kChannel: return bound.channels + place.offset;
    case Region::kVariable: return static_cast<char*>(memory_.Address(variables_.entry(place.index))) + place.offset;
    case Region::kConstant: return const_cast<void*>(bound.constants[static_cast<size_t>(place.index)]);
    case Region::kFeed: return feeds_[static_cast<size_t>(place.index)];
    case Region::kSeparate: return bound.separate[static_cast<size_t>(place.index)];
  }
  MUSTER_CHECK(false);
}

void BoundPlan::Bind(size_t p) {
  const muster::Partition& partition = plan_.partitions[p];
  Partition& bound = partitions_[p];
  for (const Step& step : partition.steps) {
    for (const Place& in : step.inputs) bound.addresses.push_back(AddressOf(in, p));
    for (const Place& out : step.outputs) bound.addresses.push_back(AddressOf(out, p));
  }
  void* const* next = bound.addresses.data();
  for (const Step& step : partition.steps) {
    BoundStep b;
    b.step = &step;
    b.kernel = step.kernel.get();
    b.args.inputs = next;
    b.args.outputs = next + step.inputs.size();
    next = b.args.outputs + step.outputs.size();
    b.args.workspace = AddressOf(step.workspace, p);
    b.args.stream = StreamOf(partition.streams[static_cast<size_t>(step.stream)]);
    if (step.recv_channel >= 0) b.receive = channels_[static_cast<size_t>(step.recv_channel)].get();
    if (step.send_channel >= 0) {
      const ChannelSpec& channel = plan_.channels[static_cast<size_t>(step.send_channel)];
      b.send = channels_[static_cast<size_t>(step.send_channel)].get();
      b.send_to = AddressOf(channel.place, static_cast<size_t>(channel.to));
      b.send_bytes = static_cast<size_t>(channel.desc.byte_size());
    }
    bound.steps.push_back(b);
  }
  BindEvents(partition, &bound);
  BindParts(p);
}

void BoundPlan::BindEvents(const muster::Partition& partition, Partition* bound) {
  for (const Step& step : partition.steps)
    for (const std::vector<int>* numbers : {&step.waits, &step.signals})
      for (int event : *numbers) bound->events.push_back(events_[static_cast<size_t>(event)].get());
  Event* const* next = bound->events.data();
  for (BoundStep& b : bound->steps) {
    b.waits = {next, b.step->waits.size()};
    b.signals = {next + b.waits.size(), b.step->signals.size()};
    next += b.waits.size() + b.signals.size();
  }
}

void BoundPlan::BindParts(size_t p) {
  Partition& bound = partitions_[p];
  Stream* const compute = bound.device->stream(StreamKind::kCompute);
  for (BoundStep& b : bound.steps) {
    b.is_on_compute_stream = b.args.stream == compute;
    if (b.kernel == nullptr) b.part = StepPart::kExchange;
    else if (b.step->phase == kUpdatePhase) b.part = StepPart::kUpdate;
    for (int event : b.step->waits)
      b.waits_for_others =
          b.waits_for_others || plan_.events[static_cast<size_t>(event)].partition != static_cast<int>(p);
  }
  bound.clock = PartClock(2 * bound.steps.size());
}

void BoundPlan::Abandon(std::exception_ptr error) const {
  for (Stream* stream : streams_) stream->Abandon(error);
}

std::exception_ptr BoundPlan::Synchronize(const std::function<void()>& poll) const {
  std::exception_ptr first;
  for (Stream* stream : streams_) {
    try {
      while (!stream->WaitFor(kPollEvery)) poll();
      stream->Synchronize();
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  return first;
}

}  // namespace muster
