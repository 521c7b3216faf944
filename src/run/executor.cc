#include "run/executor.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "graph/op_def.h"
#include "muster/error.h"
#include "run/host_copy.h"

namespace muster {
namespace {

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

Executor::Executor(Plan plan, std::vector<Device*> devices, const VariableTable& variables, const VariableMemory& memory,
                   std::function<void(int)> adopt_thread)
    : plan_(std::move(plan)), bound_(plan_, devices, variables, memory), gate_(plan_.partitions.size()) {
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

void Executor::MarkUpdates() {
  for (size_t p = 0; p < plan_.partitions.size(); ++p) {
    auto& steps = bound_.steps(p);
    const auto first = std::find_if(steps.begin(), steps.end(), [](const BoundStep& b) { return b.step->updates_from_gradient; });
    if (first != steps.end()) first->begins_updates = true;
  }
}

void Executor::Launch(BoundStep& b, size_t partition) {
  try {
    b.kernel->Launch(b.args);
  } catch (const Error& error) {
    throw error.Within(fmt::format("{} {}, {}", OpName(b.step->kind), b.step->name, plan_.partitions[partition].device.ToString()));
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
    // Once updates have begun, on whatever device, they are finished: half-updated variables would be worth nothing.
    if (b.step->phase != kUpdatePhase && !finishes_steps_ && Interrupted() && gate_.MayCancel()) throw Error(Code::kCancelled, "interrupted");
    if (b.begins_updates) gate_.Enter(partition);
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
      throw InvalidArgument(fmt::format("feed {} must be {}, not {}", f, plan_.feeds[f].desc.ToString(), feeds[f].desc().ToString()));
  for (size_t f = 0; f < feeds.size(); ++f)
    if (bound_.feed(f) != nullptr)
      CopyFromHost(bound_.device(static_cast<size_t>(plan_.feeds[f].partition)), bound_.feed(f), feeds[f].raw(), feeds[f].byte_size());
}

void Executor::Run(int64_t step, const std::vector<Tensor>& feeds) {
  const double start = SteadySeconds();
  CopyFeeds(feeds);
  times_ = {};
  times_.input = SteadySeconds() - start;
  step_ = step;
  error_ = nullptr;
  is_stopped_ = false;
  gate_.Reopen(has_guarded_step_);
  if (drivers_ != nullptr) {
    for (auto& channel : bound_.channels()) channel->Reopen();  // a step that failed must not fail the next one
    drivers_->RunRound();
  } else if (!plan_.partitions.empty()) {
    Drive(0);
  }
  const std::exception_ptr stream_error = bound_.Synchronize();
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
  BoundStep* last_writer = nullptr;
  for (size_t p = 0; p < plan_.partitions.size(); ++p)
    for (BoundStep& b : bound_.steps(p)) {
      b.is_guarded = false;
      for (size_t o = 0; o < b.step->outputs.size(); ++o)
        if (static_cast<int>(p) == port.partition && b.args.outputs[o] == value) last_writer = &b;
    }
  has_guarded_step_ = last_writer != nullptr;
  if (!has_guarded_step_) return;
  last_writer->is_guarded = true;
  CheckGuardComesFirst();
}

// Visits the steps in an order in which each receive comes after its send, and no update before the guard. If that leads
// nowhere, drivers would wait for each other.
void Executor::CheckGuardComesFirst() const {
  std::vector<size_t> next(plan_.partitions.size(), 0);
  std::vector<bool> is_sent(plan_.channels.size(), false);
  bool is_passed = false;
  for (bool has_moved = true; has_moved && !is_passed;) {
    has_moved = false;
    for (size_t p = 0; p < next.size() && !is_passed; ++p)
      for (const auto& steps = bound_.steps(p); next[p] < steps.size(); ++next[p], has_moved = true) {
        const BoundStep& b = steps[next[p]];
        const int from = b.step->recv_channel;
        if (b.begins_updates || (from >= 0 && !is_sent[static_cast<size_t>(from)])) break;
        if (b.step->send_channel >= 0) is_sent[static_cast<size_t>(b.step->send_channel)] = true;
        is_passed = is_passed || b.is_guarded;
      }
  }
  if (!is_passed) throw InvalidArgument("the guard needs what an update of the same step makes, so that it cannot stop the update");
}

bool Executor::IsGuardFinite() const {
  const Port& port = plan_.fetches[static_cast<size_t>(guard_)];
  Device& device = bound_.device(static_cast<size_t>(port.partition));
  device.stream(StreamKind::kCompute)->Synchronize();
  const Tensor value = ReadValue(device, port.desc, bound_.fetch(static_cast<size_t>(guard_)));
  return std::isfinite(port.desc.dtype == DType::kFloat64 ? value.scalar<double>() : value.scalar<float>());
}

std::vector<Tensor> Executor::Fetch() const {
  std::vector<Tensor> results;
  for (size_t f = 0; f < plan_.fetches.size(); ++f)
    results.push_back(ReadValue(bound_.device(static_cast<size_t>(plan_.fetches[f].partition)), plan_.fetches[f].desc, bound_.fetch(f)));
  return results;
}

}  // namespace muster
