#include "run/session_impl.h"

#include <cstdio>

#include <fmt/format.h>

#include "base/flush_denormals.h"
#include "graph/op_def.h"
#include "muster/error.h"
#include "plan/plan_summary.h"

namespace muster {

// A prepared plan that follows the session's variables: compiled when first run, and again if they moved.
class SessionImpl::PlanRunner final : public Runner {
 public:
  PlanRunner(SessionImpl* session, Wanted wanted) : session_(session), wanted_(std::move(wanted)) {
    plan_ = session_->CompilePlanLocked(wanted_);
    stats_ = plan_->stats;
  }

  std::vector<Tensor> Run(const std::vector<Tensor>& feeds) override {
    std::lock_guard lock(session_->mutex_);
    return RunLocked(feeds);
  }

  std::vector<Tensor> RunLocked(const std::vector<Tensor>& feeds) { return RunAs(session_->step_++, feeds); }

  std::vector<Tensor> RunAs(int64_t step, const std::vector<Tensor>& feeds) {
    Bind();
    executor_->Run(step, feeds);
    return executor_->Fetch();
  }

  std::vector<Tensor> RunTraced(const std::vector<Tensor>& feeds, Timeline* timeline) override {
    std::lock_guard lock(session_->mutex_);
    Bind();
    *timeline = executor_->RunTraced(session_->step_++, feeds);
    return executor_->Fetch();
  }

  const PlanStats& stats() const override { return stats_; }
  const StepTimes& times() const override { return executor_ != nullptr ? executor_->times() : no_times_; }
  void StopUnlessFinite(int fetch) override {
    guard_ = fetch;
    if (executor_ != nullptr) executor_->StopUnlessFinite(fetch);
  }
  void FinishSteps() override {
    finishes_steps_ = true;
    if (executor_ != nullptr) executor_->FinishSteps();
  }
  std::string PlanText() const override {
    if (executor_ != nullptr) return PlanToText(executor_->plan());
    return plan_ != nullptr ? PlanToText(*plan_) : "";
  }
  std::vector<Graph> PartitionGraphs() const override {
    if (executor_ != nullptr) return executor_->plan().graphs;
    return plan_ != nullptr ? plan_->graphs : std::vector<Graph>();
  }
  PlanSummary Summary() const override {
    if (executor_ != nullptr) return Summarize(executor_->plan());
    return plan_ != nullptr ? Summarize(*plan_) : PlanSummary();
  }

 private:
  // Memory is taken at the first run, so that preparing several plans decides where variables live before they exist.
  void Bind() {
    session_->memory_.Ensure(session_->table_);
    if (executor_ != nullptr && executor_->plan().variable_version == session_->table_.version) return;
    executor_.reset();
    if (plan_ == nullptr || plan_->variable_version != session_->table_.version) {
      plan_ = session_->CompilePlanLocked(wanted_);
      session_->memory_.Ensure(session_->table_);
      if (plan_->variable_version != session_->table_.version) plan_ = session_->CompilePlanLocked(wanted_);
    }
    stats_ = plan_->stats;
    std::unique_ptr<Plan> plan = std::move(plan_);  // if memory runs out below, the next run compiles again
    auto executor =
        std::make_unique<Executor>(std::move(*plan), session_->DevicePointers(), session_->table_, session_->memory_,
                                   [session = session_](int device) { session->AdoptThread(device); });
    if (guard_ >= 0) executor->StopUnlessFinite(guard_);  // if that is refused, the next run says so again
    if (finishes_steps_) executor->FinishSteps();
    executor_ = std::move(executor);
  }

  SessionImpl* session_;
  Wanted wanted_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Executor> executor_;
  PlanStats stats_;
  StepTimes no_times_;
  int guard_ = -1;  // fetch that must be finite for a replay to go on
  bool finishes_steps_ = false;
};

SessionImpl::SessionImpl(const Graph* graph, SessionOptions options, std::vector<LocalDevice> devices)
    : graph_(graph), options_(std::move(options)), devices_(std::move(devices)), memory_(DevicePointers()) {}

std::vector<Device*> SessionImpl::DevicePointers() const {
  std::vector<Device*> pointers;
  for (const LocalDevice& d : devices_) pointers.push_back(d.device.get());
  return pointers;
}

CompileRequest SessionImpl::RequestFor(const Wanted& wanted) {
  CompileRequest request;
  request.graph = graph_;
  request.feeds = wanted.feeds;
  request.fetches = wanted.fetches;
  request.targets = wanted.targets;
  for (const LocalDevice& d : devices_) {
    const int64_t limit = d.device->name().type == "CPU" ? 0 : d.device->allocator()->Stats().bytes_limit;
    request.devices.push_back(
        {d.device->name(), d.kernels, d.caps, d.device->is_asynchronous(), limit, d.uses_host_memory});
  }
  request.variables = &table_;
  request.own_task = devices_[0].device->name().Task();
  request.optimize = options_.optimize;
  request.use_arena = options_.use_arena;
  request.allow_soft_placement = options_.allow_soft_placement;
  request.recompute = options_.recompute;
  request.host_memory_limit = options_.host_memory_limit;
  request.dump_passes_dir = options_.dump_passes_dir;
  request.keep_graphs = options_.keep_partition_graphs;
  return request;
}

std::unique_ptr<Plan> SessionImpl::CompilePlanLocked(const Wanted& wanted) {
  UpdateTableLocked();
  const FlushDenormals flush;  // constants are folded by the kernels that would compute them in a step
  return std::make_unique<Plan>(Compile(RequestFor(wanted)));
}

void SessionImpl::Initialize() {
  Wanted wanted;
  for (const VariableInfo& info : graph_->variables()) wanted.targets.push_back(info.initializer);
  std::lock_guard lock(mutex_);
  // Initial values are drawn as of step 0, whatever ran before. The plan's memory is given back at once.
  PlanRunner(this, std::move(wanted)).RunAs(0, {});
}

std::vector<Tensor> SessionImpl::Run(const Feeds& feeds, const std::vector<Output>& fetches,
                                     const std::vector<NodeId>& targets) {
  Wanted wanted{{}, fetches, targets};
  std::vector<Tensor> values;
  for (const auto& [output, value] : feeds) {
    graph_->CheckExists(output);
    wanted.feeds.push_back(output);
    values.push_back(value);
    if (value.is_empty() || !(value.desc() == graph_->desc(output)))
      throw InvalidArgument(fmt::format("{} must be fed {}, not {}", graph_->node(output.node).name,
                                        graph_->desc(output).ToString(), value.desc().ToString()));
  }
  std::lock_guard lock(mutex_);
  std::unique_ptr<Runner>& runner = cache_[wanted];
  if (runner == nullptr) {
    try {
      runner = std::make_unique<PlanRunner>(this, wanted);
    } catch (...) {
      cache_.erase(wanted);
      throw;
    }
  }
  return static_cast<PlanRunner&>(*runner).RunLocked(values);
}

std::unique_ptr<Runner> SessionImpl::Prepare(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                             const std::vector<NodeId>& targets) {
  std::lock_guard lock(mutex_);
  return std::make_unique<PlanRunner>(this, Wanted{feeds, fetches, targets});
}

Placement SessionImpl::PlaceLocked() {
  table_.Update(*graph_);
  return PlaceGraph(RequestFor({}));
}

// When the session first sees a part of the graph, its variables get their devices, whatever is compiled first, and
// keep them.
void SessionImpl::UpdateTableLocked() {
  if (nodes_seen_ == graph_->num_nodes()) return;
  const Placement placement = PlaceLocked();
  if (options_.log_device_placement)
    for (NodeId id = nodes_seen_; id < graph_->num_nodes(); ++id)
      std::fputs((placement.Line(*graph_, id) + "\n").c_str(), stderr);
  nodes_seen_ = graph_->num_nodes();
}

VariableTable::Entry& SessionImpl::EntryLocked(Output ref) {
  graph_->CheckExists(ref);
  UpdateTableLocked();
  const int index = table_.IndexOf(ref.node);
  if (index < 0) throw InvalidArgument(fmt::format("{} is not a variable", graph_->node(ref.node).name));
  memory_.Ensure(table_);
  return table_.mutable_entry(index);
}

Tensor SessionImpl::ReadVariable(Output ref) {
  std::lock_guard lock(mutex_);
  return memory_.Read(EntryLocked(ref));
}

void SessionImpl::WriteVariable(Output ref, const Tensor& value) {
  graph_->CheckExists(ref);
  if (value.is_empty() || !(value.desc() == graph_->desc(ref)))
    throw InvalidArgument(fmt::format("variable {} is {}, not {}", graph_->node(ref.node).name,
                                      graph_->desc(ref).ToString(), value.desc().ToString()));
  std::lock_guard lock(mutex_);
  memory_.Write(EntryLocked(ref), value);
}

int64_t SessionImpl::step() const {
  std::lock_guard lock(mutex_);
  return step_;
}

void SessionImpl::set_step(int64_t step) {
  std::lock_guard lock(mutex_);
  step_ = step;
}

void SessionImpl::AdoptThread(int device) const {
  if (const auto& adopt = devices_[static_cast<size_t>(device)].adopt_thread) adopt();
}

std::vector<DeviceInfo> SessionImpl::Devices() const {
  std::vector<DeviceInfo> infos;
  for (const LocalDevice& d : devices_) {
    const AllocatorStats stats = d.device->allocator()->Stats();
    infos.push_back({d.device->name().ToString(), d.physical_id, d.uses_host_memory, d.description, stats.bytes_limit,
                     stats.bytes_in_use, stats.peak_bytes_in_use});
  }
  return infos;
}

std::vector<std::string> SessionImpl::DevicePlacement() {
  std::lock_guard lock(mutex_);
  const Placement placement = PlaceLocked();
  std::vector<std::string> lines;
  for (NodeId id = 0; id < graph_->num_nodes(); ++id) lines.push_back(placement.Line(*graph_, id));
  return lines;
}

std::vector<SoftPlacement> SessionImpl::SoftPlacements() {
  std::lock_guard lock(mutex_);
  return PlaceLocked().moved();
}

Graph SessionImpl::PlacedGraph() {
  std::lock_guard lock(mutex_);
  const Placement placement = PlaceLocked();
  Graph placed = *graph_;
  for (NodeId id = 0; id < placed.num_nodes(); ++id) placed.mutable_node(id).device = placement.NameOf(id);
  return placed;
}

}  // namespace muster
