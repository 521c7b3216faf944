#include "run/executor.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/flush_denormals.h"
#include "base/interrupt.h"
#include "graph/op_def.h"
#include "muster/error.h"
#include "run/host_copy.h"
#include "run/update_order.h"

namespace muster {
namespace {

constexpr double kPollEvery = 0.02;  // seconds, while the host waits

// Rethrows an error with the number of the step; an interrupt is not the step's fault.
[[noreturn]] void Rethrow(std::exception_ptr failure, int64_t step) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled) throw;
    throw error.Within(fmt::format("step {}", step));
  }
}

}  // namespace

Executor::Executor(Plan plan, std::vector<Device*> devices, const VariableTable& variables,
                   const VariableMemory& memory, std::function<void(int)> adopt_thread)
    : plan_(std::move(plan)),
      bound_(plan_, devices, variables, memory),
      gate_(plan_.partitions.size()),
      poll_([this] { CancelIfInterrupted(); }) {
  MarkUpdates();
  if (plan_.partitions.size() > 1)
    drivers_ = std::make_unique<Drivers>(
        plan_.partitions.size(),
        [this, adopt_thread](size_t p) {
          if (adopt_thread) adopt_thread(plan_.partitions[p].device_index);
        },
        [this](size_t p) { Drive(p); });
}

Executor::~Executor() = default;

// Devices whose first updates need nothing of each other's updates can begin together.
void Executor::MarkUpdates() {
  const std::vector<size_t> firsts = FirstUpdates(plan_, false);
  size_t num_updating = 0;
  for (size_t p = 0; p < firsts.size(); ++p) {
    if (firsts[p] == bound_.steps(p).size()) continue;
    bound_.steps(p)[firsts[p]].begins_updates = true;
    ++num_updating;
  }
  num_meeting_ = ReachedBefore(plan_, firsts) == firsts ? num_updating : 1;
}

void Executor::CancelIfInterrupted() {
  if (Interrupted() && gate_.MayCancel())
    bound_.Abandon(std::make_exception_ptr(Error(Code::kCancelled, "interrupted")));
}

void Executor::Launch(BoundStep& b, size_t partition) {
  try {
    b.kernel->Launch(b.args);
  } catch (const Error& error) {
    throw error.Within(
        fmt::format("{} {}, {}", OpName(b.step->kind), b.step->name, plan_.partitions[partition].device.ToString()));
  }
}

void Executor::Enqueue(BoundStep& b, size_t partition) {
  Stream* const stream = b.args.stream;
  PartClock& clock = bound_.clock(partition);
  // A receive makes the stream of a synchronous device wait; elsewhere only this thread, until the copy is enqueued.
  const bool is_timed = b.is_on_compute_stream && (b.receive == nullptr || !bound_.device(partition).is_asynchronous());
  if (is_timed && b.waits_for_others) clock.Enter(StepPart::kExchange, stream);
  for (Event* event : b.waits) stream->Wait(event);
  if (is_timed) clock.Enter(b.part, stream);
  if (is_traced_) stream->Stamp(&b.started);
  b.args.step = step_;
  b.args.may_stop = !finishes_steps_;
  if (b.receive != nullptr) b.receive->Await();
  else if (b.kernel != nullptr) Launch(b, partition);
  else stream->Copy(b.send_to, b.args.inputs[0], b.send_bytes);
  if (is_traced_) stream->Stamp(&b.ended);
  for (Event* event : b.signals) stream->Record(event);
  if (b.send != nullptr) b.send->Post();
}

void Executor::Replay(size_t partition) {
  PartClock& clock = bound_.clock(partition);
  Stream* const compute = bound_.device(partition).stream(StreamKind::kCompute);
  clock.Start(compute);
  for (BoundStep& b : bound_.steps(partition)) {
    if (Interrupted() && gate_.MayCancel()) throw Error(Code::kCancelled, "interrupted");
    if (b.awaits_guard) gate_.AwaitVerdict(partition);
    if (b.begins_updates && finishes_steps_)
      b.args.stream->Decide([this](std::exception_ptr failure) { gate_.Enter(failure); });
    Enqueue(b, partition);
    if (!b.is_guarded) continue;
    if (!IsGuardFinite()) {
      Stop();
      break;
    }
    gate_.Pass();
  }
  clock.Stop(compute);
}

void Executor::Drive(size_t partition) {
  const FlushDenormals flush;
  try {
    Replay(partition);
  } catch (const UpdateGate::Stopped&) {
    bound_.clock(partition).Stop(bound_.device(partition).stream(StreamKind::kCompute));
  } catch (...) {
    Fail(std::current_exception());
  }
}

void Executor::Fail(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  if (error_ != nullptr) return;
  error_ = error;
  if (is_stopped_) return;  // nobody waits any more
  for (auto& channel : bound_.channels()) channel->Close(error);
  gate_.Close(error);
}

void Executor::Stop() {
  std::lock_guard lock(mutex_);
  if (error_ != nullptr) return;
  is_stopped_ = true;
  const std::exception_ptr stopped = std::make_exception_ptr(UpdateGate::Stopped());
  for (auto& channel : bound_.channels()) channel->Close(stopped);
  gate_.Close(stopped);
}

void Executor::CopyFeeds(const std::vector<Tensor>& feeds) {
  if (feeds.size() != plan_.feeds.size())
    throw InvalidArgument(fmt::format("this plan takes {} feeds, got {}", plan_.feeds.size(), feeds.size()));
  for (size_t f = 0; f < feeds.size(); ++f)
    if (feeds[f].is_empty() || !(feeds[f].desc() == plan_.feeds[f].desc))
      throw InvalidArgument(
          fmt::format("feed {} must be {}, not {}", f, plan_.feeds[f].desc.ToString(), feeds[f].desc().ToString()));
  for (size_t f = 0; f < feeds.size(); ++f)
    if (bound_.feed(f) != nullptr)
      CopyFromHost(bound_.device(static_cast<size_t>(plan_.feeds[f].partition)), bound_.feed(f), feeds[f].raw(),
                   feeds[f].byte_size());
}

void Executor::Run(int64_t step, const std::vector<Tensor>& feeds) {
  const double start = SteadySeconds();
  CopyFeeds(feeds);
  times_ = {};
  times_.input = SteadySeconds() - start;
  step_ = step;
  error_ = nullptr;
  is_stopped_ = false;
  gate_.Reopen(has_guarded_step_, num_meeting_);
  if (drivers_ != nullptr) {
    for (auto& channel : bound_.channels()) channel->Reopen();  // a step that failed must not fail the next one
    drivers_->RunRound(poll_);
  } else if (!plan_.partitions.empty()) {
    Drive(0);
  }
  const std::exception_ptr stream_error = bound_.Synchronize(poll_);
  // A driver may have failed because of what it waited for on a stream: then both hold the same error.
  if (error_ != nullptr) Rethrow(error_, step);
  if (stream_error != nullptr) Rethrow(stream_error, step);
  AddTimes();
}

void Executor::AddTimes() {
  for (size_t p = 0; p < plan_.partitions.size(); ++p) {
    const auto parts = bound_.clock(p).Sum();
    if (parts[0] < times_.compute) continue;
    times_ = {times_.input, parts[0], parts[1], parts[2]};
  }
}

Timeline Executor::RunTraced(int64_t step, const std::vector<Tensor>& feeds) {
  const double origin = SteadySeconds();
  is_traced_ = true;
  try {
    Run(step, feeds);
  } catch (...) {
    is_traced_ = false;
    throw;
  }
  is_traced_ = false;
  std::vector<std::vector<StepSpan>> spans(plan_.partitions.size());
  for (size_t p = 0; p < spans.size(); ++p)
    for (const BoundStep& b : bound_.steps(p)) spans[p].push_back({b.started - origin, b.ended - b.started});
  return MakeTimeline(plan_, spans);
}

void Executor::RunTimed(int64_t step, std::vector<double>* seconds) {
  MUSTER_CHECK(plan_.partitions.size() == 1 && plan_.feeds.empty());
  const FlushDenormals flush;
  std::vector<BoundStep>& steps = bound_.steps(0);
  seconds->resize(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    steps[s].args.step = step;
    const double start = SteadySeconds();
    steps[s].kernel->Launch(steps[s].args);
    steps[s].args.stream->Synchronize();
    (*seconds)[s] += SteadySeconds() - start;
  }
}

void Executor::StopUnlessFinite(int fetch) {
  if (fetch < 0 || fetch >= static_cast<int>(plan_.fetches.size()))
    throw InvalidArgument(fmt::format("there is no fetch {}: this plan has {}", fetch, plan_.fetches.size()));
  const Port& port = plan_.fetches[static_cast<size_t>(fetch)];
  if (port.desc.shape.num_elements() != 1 || (port.desc.dtype != DType::kFloat32 && port.desc.dtype != DType::kFloat64))
    throw InvalidArgument(fmt::format("a guard must be a float32 or float64 scalar, not {}", port.desc.ToString()));
  guard_ = fetch;
  const void* const value = bound_.fetch(static_cast<size_t>(fetch));
  std::pair<size_t, size_t> last_writer;
  has_guarded_step_ = false;
  for (size_t p = 0; p < plan_.partitions.size(); ++p)
    for (size_t s = 0; s < bound_.steps(p).size(); ++s) {
      BoundStep& b = bound_.steps(p)[s];
      b.is_guarded = b.awaits_guard = false;
      for (size_t o = 0; o < b.step->outputs.size() && static_cast<int>(p) == port.partition; ++o)
        if (b.args.outputs[o] == value) last_writer = {p, s}, has_guarded_step_ = true;
    }
  if (!has_guarded_step_) return;
  bound_.steps(last_writer.first)[last_writer.second].is_guarded = true;
  // Every update waits for the guard, or at least those from gradients.
  std::vector<size_t> held = FirstUpdates(plan_, false);
  if (!ComesBefore(last_writer, held)) held = FirstUpdates(plan_, true);
  if (!ComesBefore(last_writer, held))
    throw InvalidArgument("the guard needs what an update of the same step makes, so that it cannot stop the update");
  for (size_t p = 0; p < held.size(); ++p)
    if (held[p] < bound_.steps(p).size()) bound_.steps(p)[held[p]].awaits_guard = true;
}

// Otherwise drivers would wait for each other.
bool Executor::ComesBefore(std::pair<size_t, size_t> step, const std::vector<size_t>& stop) const {
  return ReachedBefore(plan_, stop)[step.first] > step.second;
}

bool Executor::IsGuardFinite() const {
  const Port& port = plan_.fetches[static_cast<size_t>(guard_)];
  Device& device = bound_.device(static_cast<size_t>(port.partition));
  Stream* const stream = device.stream(StreamKind::kCompute);
  while (!stream->WaitFor(kPollEvery)) poll_();
  stream->Synchronize();
  const Tensor value = ReadValue(device, port.desc, bound_.fetch(static_cast<size_t>(guard_)));
  return std::isfinite(port.desc.dtype == DType::kFloat64 ? value.scalar<double>() : value.scalar<float>());
}

std::vector<Tensor> Executor::Fetch() const {
  std::vector<Tensor> results;
  for (size_t f = 0; f < plan_.fetches.size(); ++f)
    results.push_back(ReadValue(bound_.device(static_cast<size_t>(plan_.fetches[f].partition)), plan_.fetches[f].desc,
                                bound_.fetch(f)));
  return results;
}

}  // namespace muster
