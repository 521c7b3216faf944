#include "run/executor.h"

#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "graph/op_def.h"
#include "muster/error.h"
#include "run/host_copy.h"

namespace muster {
namespace {

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr int kUpdatePhase = 2;

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

Executor::Executor(Plan plan, std::vector<Device*> devices, const VariableTable& variables, const VariableMemory& memory)
    : plan_(std::move(plan)), bound_(plan_, devices, variables, memory) {
  if (plan_.partitions.size() > 1)
    drivers_ = std::make_unique<Drivers>(plan_.partitions.size(), [this](size_t p) {
      StepTimes times;
      Drive(p, &times);
    });
}

Executor::~Executor() = default;

void Executor::Launch(BoundStep& b, size_t partition) {
  try {
    b.kernel->Launch(b.args);
  } catch (const Error& error) {
    throw error.Within(fmt::format("{} {}, {}", OpName(b.step->kind), b.step->name, plan_.partitions[partition].device.ToString()));
  }
}

void Executor::Enqueue(BoundStep& b, size_t partition) {
  if (b.receive != nullptr) return b.receive->Await();
  for (Event* event : b.waits) b.args.stream->Wait(event);
  b.args.step = step_;
  if (b.kernel != nullptr) Launch(b, partition);
  else b.args.stream->Copy(b.send_to, b.args.inputs[0], b.send_bytes);
  for (Event* event : b.signals) b.args.stream->Record(event);
  if (b.send != nullptr) b.send->Post();
}

void Executor::Replay(size_t partition, StepTimes* times) {
  double* const phases[] = {&times->compute, &times->compute, &times->update};  // by phase
  int phase = 0;
  double since = Seconds();
  for (BoundStep& b : bound_.steps(partition)) {
    if (b.step->phase != phase) {
      const double now = Seconds();
      *phases[phase] += now - since;
      since = now;
      phase = b.step->phase;
    }
    // Once updates have begun they are finished: half-updated variables would be worth nothing.
    if (phase != kUpdatePhase && Interrupted()) throw Error(Code::kCancelled, "interrupted");
    Enqueue(b, partition);
    if (b.is_guarded && !IsGuardFinite()) break;
  }
  *phases[phase] += Seconds() - since;
}

void Executor::Drive(size_t partition, StepTimes* times) {
  try {
    Replay(partition, times);
  } catch (...) {
    Fail(std::current_exception());
  }
}

void Executor::Fail(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  if (error_ != nullptr) return;
  error_ = error;
  for (auto& channel : bound_.channels()) channel->Close(error);
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
  const double start = Seconds();
  CopyFeeds(feeds);
  times_ = {};
  times_.input = Seconds() - start;
  step_ = step;
  error_ = nullptr;
  if (drivers_ != nullptr) {
    for (auto& channel : bound_.channels()) channel->Reopen();  // a step that failed must not fail the next one
    drivers_->RunRound();
  } else if (!plan_.partitions.empty()) {
    Drive(0, &times_);
  }
  const std::exception_ptr stream_error = bound_.Synchronize();
  // Drivers that only enqueue cannot tell the phases apart.
  if (drivers_ != nullptr || bound_.is_asynchronous()) times_ = {times_.input, Seconds() - start - times_.input, 0};
  // A driver may have failed because of what it waited for on a stream: then both hold the same error.
  if (error_ != nullptr) Rethrow(error_, step);
  if (stream_error != nullptr) Rethrow(stream_error, step);
}

void Executor::RunTimed(int64_t step, std::vector<double>* seconds) {
  MUSTER_CHECK(plan_.partitions.size() == 1 && plan_.feeds.empty());
  std::vector<BoundStep>& steps = bound_.steps(0);
  seconds->resize(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    steps[s].args.step = step;
    const double start = Seconds();
    steps[s].kernel->Launch(steps[s].args);
    steps[s].args.stream->Synchronize();
    (*seconds)[s] += Seconds() - start;
  }
}

void Executor::StopUnlessFinite(int fetch) {
  if (fetch < 0 || fetch >= static_cast<int>(plan_.fetches.size()))
    throw InvalidArgument(fmt::format("there is no fetch {}: this plan has {}", fetch, plan_.fetches.size()));
  if (plan_.partitions.size() != 1)
    throw InvalidArgument(fmt::format("a guard needs a plan on one device, not {}", plan_.partitions.size()));
  const Port& port = plan_.fetches[static_cast<size_t>(fetch)];
  if (port.desc.shape.num_elements() != 1 || (port.desc.dtype != DType::kFloat32 && port.desc.dtype != DType::kFloat64))
    throw InvalidArgument(fmt::format("a guard must be a float32 or float64 scalar, not {}", port.desc.ToString()));
  guard_ = fetch;
  const void* const value = bound_.fetch(static_cast<size_t>(fetch));
  BoundStep* last_writer = nullptr;
  for (BoundStep& b : bound_.steps(0)) {
    b.is_guarded = false;
    for (size_t o = 0; o < b.step->outputs.size(); ++o)
      if (b.args.outputs[o] == value) last_writer = &b;
  }
  if (last_writer != nullptr) last_writer->is_guarded = true;
}

bool Executor::IsGuardFinite() const {
  const Port& port = plan_.fetches[static_cast<size_t>(guard_)];
  Device& device = bound_.device(0);
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
