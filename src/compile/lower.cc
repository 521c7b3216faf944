#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "compile/lifetimes.h"
#include "compile/passes.h"
#include "compile/phase.h"
#include "graph/op_def.h"
#include "memory/arena_planner.h"

namespace muster {
namespace {

// Builds one partition: its steps in schedule order, then where every value lives.
class PartitionBuilder {
 public:
  PartitionBuilder(const CompileGraph& graph, const std::vector<ChannelSpec>& channels, const CompileRequest& request, int device)
      : graph_(graph), channels_(channels), request_(request), lifetimes_(graph) {
    partition_.device_index = device;
    partition_.device = request.devices[static_cast<size_t>(device)].name;
  }

  Partition Build(const std::vector<NodeId>& order) {
    for (NodeId id : order)
      if (graph_.device(id) == partition_.device_index) AddNode(id);
    for (Output fetch : graph_.fetches)
      if (graph_.device(fetch.node) == partition_.device_index) lifetimes_.Use(fetch, static_cast<int>(partition_.steps.size()));
    KeepWhatIsSent();
    ShareInPlace();
    PlaceGradients();
    PlaceChannels();
    PlaceArena();
    FillPlaces();
    return std::move(partition_);
  }

  Place PlaceOf(Output value) const {
    const Output root = lifetimes_.Root(value);
    const Node& node = graph_.node(root.node);
    if (const NodeId variable = graph_.VariableBehind(root); variable != kNoNode)
      return {Region::kVariable, request_.variables->IndexOf(graph_.original(variable)), 0};
    if (node.kind == OpKind::kConst) return {Region::kConstant, constants_.at(root.node), 0};
    if (node.kind == OpKind::kPlaceholder) return {Region::kFeed, FeedIndex(root), 0};
    return places_.at(lifetimes_.Group(root));
  }

 private:
  int FeedIndex(Output root) const {
    for (size_t i = 0; i < graph_.feeds.size(); ++i)
      if (graph_.feeds[i] == root) return static_cast<int>(i);
    return -1;
  }

  void AddNode(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.kind == OpKind::kConst) {
      constants_[id] = static_cast<int>(partition_.constants.size());
      partition_.constants.push_back(node.attr<ConstAttrs>().value);
    }
    if (IsSource(node.kind)) return;
    if (GetOpDef(node.kind).is_alias) return lifetimes_.Alias({id, 0}, node.inputs[0]);
    Step step;
    step.name = node.name;
    step.kind = node.kind;
    step.attrs = node.attrs;
    step.phase = PhaseOf(node);
    if (node.kind == OpKind::k_Send) step.send_channel = node.attr<ChannelAttrs>().channel;
    if (node.kind == OpKind::k_Recv) step.recv_channel = node.attr<ChannelAttrs>().channel;
    const int index = static_cast<int>(partition_.steps.size());
    PreparedKernel prepared;
    if (node.kind != OpKind::k_Send && node.kind != OpKind::k_Recv) prepared = PrepareNode(id);
    step.kernel = std::move(prepared.kernel);
    for (Output in : node.inputs) {
      lifetimes_.Use(in, index);
      step.input_descs.push_back(graph_.desc(in));
    }
    if (GetOpDef(node.kind).num_refs > 0) lifetimes_.Alias({id, 0}, node.inputs[0]);
    else
      for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) lifetimes_.Define({id, i}, index);
    step.output_descs = node.outputs;
    nodes_.push_back(id);
    workspaces_.push_back(prepared.workspace_bytes);
    in_place_.push_back(std::move(prepared.in_place));
    partition_.steps.push_back(std::move(step));
  }

  PreparedKernel PrepareNode(NodeId id) const {
    const CompileDevice& device = request_.devices[static_cast<size_t>(partition_.device_index)];
    const KernelRow* row = FindRow(graph_, id, device);
    const Node& node = graph_.node(id);
    if (row == nullptr)
      throw Unimplemented(std::string(OpName(node.kind)) + " " + node.name + ": no kernel on " + device.name.ToString());
    try {
      return row->prepare(RequestFor(graph_, id), device.caps);
    } catch (const Error& error) {
      throw error.Within(std::string(OpName(node.kind)) + " " + node.name);
    }
  }

  // A copy on a stream of its own may be late: what it reads keeps its memory for some steps more, so that their kernels need not
  // wait for it.
  void KeepWhatIsSent() {
    constexpr int kSteps = 16;
    const int last = static_cast<int>(partition_.steps.size()) - 1;
    for (int s = 0; s <= last; ++s) {
      const int channel = partition_.steps[static_cast<size_t>(s)].send_channel;
      if (channel < 0 || !IsCopiedBesideKernels(channels_[static_cast<size_t>(channel)])) continue;
      lifetimes_.Use(graph_.node(nodes_[static_cast<size_t>(s)]).inputs[0], std::min(s + kSteps, last));
    }
  }

  // Ends of the channel are devices still.
  bool IsCopiedBesideKernels(const ChannelSpec& channel) const {
    return request_.devices[static_cast<size_t>(channel.from)].is_asynchronous || request_.devices[static_cast<size_t>(channel.to)].is_asynchronous;
  }

  // An output takes over the memory of an input that dies in the same step, where the kernel allows it.
  void ShareInPlace() {
    if (!request_.use_arena) return;
    for (size_t s = 0; s < nodes_.size(); ++s) {
      const Node& node = graph_.node(nodes_[s]);
      std::vector<Output> taken;
      for (auto [out, in] : in_place_[s]) {
        const Output output{nodes_[s], out}, input = lifetimes_.Root(node.inputs[static_cast<size_t>(in)]);
        if (!OwnsMemory(input) || graph_.desc(output).byte_size() != graph_.desc(input).byte_size()) continue;
        if (lifetimes_.LastUse(input) != static_cast<int>(s)) continue;
        const bool is_taken = std::find(taken.begin(), taken.end(), input) != taken.end() || lifetimes_.IsMerged(output);
        if (is_taken || Occurrences(node, input) > 1) continue;
        lifetimes_.Merge(input, output);
        taken.push_back(input);
      }
    }
  }

  int Occurrences(const Node& node, Output root) const {
    int count = 0;
    for (Output in : node.inputs) count += lifetimes_.Root(in) == root;
    return count;
  }

  // Whether a value is this partition's own, not a variable, constant or feed.
  bool OwnsMemory(Output root) const { return !IsSource(graph_.node(root.node).kind) && graph_.VariableBehind(root) == kNoNode; }

  // Gradients that updates of whole variables read lie side by side, in the order of the variables.
  void PlaceGradients() {
    if (!request_.use_arena) return;
    std::map<int, Output> by_variable;
    for (NodeId id : nodes_) {
      const Node& node = graph_.node(id);
      if (GetOpDef(node.kind).num_refs == 0 || node.kind == OpKind::kAssign || node.kind == OpKind::kAssignAdd || node.kind == OpKind::kAssignSub) continue;
      const int variable = request_.variables->IndexOf(graph_.original(node.inputs[0].node));
      for (size_t i = 1; i < node.inputs.size(); ++i) {
        const Output root = lifetimes_.Root(node.inputs[i]);
        const bool fits = graph_.desc(root).shape.rank() > 0 && graph_.desc(root) == graph_.desc(node.inputs[0]);
        if (fits && OwnsMemory(root)) by_variable.emplace(variable, root);
      }
    }
    int64_t offset = 0;
    for (int variable : request_.variables->memory_order()) {
      auto it = by_variable.find(variable);
      if (it == by_variable.end()) continue;
      const int group = lifetimes_.Group(it->second);
      if (places_.count(group) > 0) continue;
      places_[group] = {Region::kGradient, 0, offset};
      offset += AlignUp(graph_.desc(it->second).byte_size());
    }
    partition_.gradient_bytes = offset;
  }

  // What arrives from other devices has memory of its own, so that a copy into it never waits for this device.
  void PlaceChannels() {
    if (!request_.use_arena) return;
    for (NodeId id : nodes_) {
      const Output received{id, 0};
      if (graph_.node(id).kind != OpKind::k_Recv || places_.count(lifetimes_.Group(received)) > 0) continue;
      places_[lifetimes_.Group(received)] = {Region::kChannel, 0, partition_.channel_bytes};
      partition_.channel_bytes += AlignUp(graph_.desc(received).byte_size());
    }
  }

  void PlaceArena() {
    std::vector<ArenaValue> values;
    std::vector<int> groups;
    for (const auto& life : lifetimes_.Groups()) {
      if (places_.count(life.group) > 0) continue;
      values.push_back({life.bytes, life.first, life.last, ArenaValue::kNoGroup});
      groups.push_back(life.group);
    }
    for (size_t s = 0; s < workspaces_.size(); ++s)
      if (workspaces_[s] > 0) {
        values.push_back({workspaces_[s], static_cast<int>(s), static_cast<int>(s), ArenaValue::kNoGroup});
        groups.push_back(-1 - static_cast<int>(s));
      }
    if (!request_.use_arena) return PlaceSeparately(values, groups);
    const ArenaPlan arena = PlanArena(values, kValueAlignment);
    for (size_t i = 0; i < groups.size(); ++i) places_[groups[i]] = {Region::kArena, 0, arena.offsets[i]};
    partition_.arena_bytes = arena.arena_bytes;
    partition_.arena_lower_bound = arena.lower_bound;
  }

  void PlaceSeparately(const std::vector<ArenaValue>& values, const std::vector<int>& groups) {
    for (size_t i = 0; i < groups.size(); ++i) {
      places_[groups[i]] = {Region::kSeparate, static_cast<int>(i), 0};
      partition_.separate_bytes.push_back(values[i].bytes);
      partition_.arena_bytes += AlignUp(values[i].bytes);
    }
    partition_.arena_lower_bound = partition_.arena_bytes;
  }

  void FillPlaces() {
    for (size_t s = 0; s < nodes_.size(); ++s) {
      Step& step = partition_.steps[s];
      const Node& node = graph_.node(nodes_[s]);
      for (Output in : node.inputs) step.inputs.push_back(PlaceOf(in));
      for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) step.outputs.push_back(PlaceOf({nodes_[s], i}));
      if (workspaces_[s] > 0) step.workspace = places_.at(-1 - static_cast<int>(s));
      step.workspace_bytes = workspaces_[s];
    }
  }

  const CompileGraph& graph_;
  const std::vector<ChannelSpec>& channels_;
  const CompileRequest& request_;
  Lifetimes lifetimes_;
  Partition partition_;
  std::vector<NodeId> nodes_;            // the node of each step
  std::vector<int64_t> workspaces_;      // by step
  std::vector<std::vector<std::pair<int, int>>> in_place_;
  std::map<NodeId, int> constants_;
  std::map<int, Place> places_;          // by lifetime group; -1-s for the workspace of step s
};

bool HasWork(const CompileGraph& graph, int device, const std::vector<NodeId>& order) {
  for (NodeId id : order)
    if (graph.device(id) == device) return true;
  return false;
}

// The block that a device's allocator gives for a request: 256 is the BFC allocator's unit.
int64_t BlockBytes(int64_t bytes) { return RoundUp(bytes, 256); }

DeviceBytes BytesOn(int device, const Plan& plan, const CompileGraph& graph, const CompileRequest& request) {
  DeviceBytes bytes;
  bytes.device = request.devices[static_cast<size_t>(device)].name.ToString();
  bytes.variable_bytes = request.variables->BytesOf(device, [](const VariableTable::Entry&) { return true; });
  bytes.peak_bytes = BlockBytes(bytes.variable_bytes);
  for (const Partition& p : plan.partitions) {
    if (p.device_index != device) continue;
    bytes.gradient_bytes = p.gradient_bytes;
    bytes.arena_bytes = p.arena_bytes;
    bytes.channel_bytes = p.channel_bytes;
    for (const Tensor& c : p.constants) bytes.constant_bytes += AlignUp(static_cast<int64_t>(c.byte_size()));
    bytes.peak_bytes += BlockBytes(p.gradient_bytes) + BlockBytes(p.arena_bytes) + BlockBytes(p.channel_bytes) + BlockBytes(bytes.constant_bytes);
  }
  for (Output feed : graph.feeds) {
    if (graph.device(feed.node) != device) continue;
    bytes.feed_bytes += AlignUp(graph.desc(feed).byte_size());
    bytes.peak_bytes += BlockBytes(graph.desc(feed).byte_size());
  }
  return bytes;
}

void AddStats(const Plan& plan, const CompileGraph& graph, const CompileRequest& request, PlanStats* stats) {
  for (int device = 0; device < static_cast<int>(request.devices.size()); ++device) {
    const DeviceBytes bytes = BytesOn(device, plan, graph, request);
    stats->variable_bytes += bytes.variable_bytes;
    stats->gradient_bytes += bytes.gradient_bytes;
    stats->arena_bytes += bytes.arena_bytes;
    stats->channel_bytes += bytes.channel_bytes;
    stats->constant_bytes += bytes.constant_bytes;
    stats->feed_bytes += bytes.feed_bytes;
    stats->devices.push_back(bytes);
  }
  for (const Partition& p : plan.partitions) stats->arena_lower_bound += p.arena_lower_bound;
  stats->peak_bytes = stats->variable_bytes + stats->gradient_bytes + stats->arena_bytes + stats->channel_bytes + stats->constant_bytes +
                      stats->feed_bytes;
}

}  // namespace

void CountSteps(Plan& plan) {
  for (const Partition& p : plan.partitions) {
    plan.stats.num_steps += static_cast<int>(p.steps.size());
    for (const Step& step : p.steps) {
      ++plan.stats.steps_by_op[std::string(OpName(step.kind))];
      if (step.kind == OpKind::k_Reorder) ++plan.stats.num_reorders;
    }
  }
}

Plan Lower(CompileGraph& graph, std::vector<ChannelSpec> channels, const CompileRequest& request) {
  const std::vector<NodeId> order = graph.TopologicalOrder();
  Plan plan;
  plan.channels = std::move(channels);
  plan.feeds.resize(graph.feeds.size());
  plan.fetches.resize(graph.fetches.size());
  std::map<int, int> partition_of;
  for (int device = 0; device < static_cast<int>(request.devices.size()); ++device) {
    if (!HasWork(graph, device, order)) continue;
    PartitionBuilder builder(graph, plan.channels, request, device);
    const int index = partition_of[device] = static_cast<int>(plan.partitions.size());
    plan.partitions.push_back(builder.Build(order));
    for (const Step& step : plan.partitions.back().steps)
      if (step.recv_channel >= 0) plan.channels[static_cast<size_t>(step.recv_channel)].place = step.outputs[0];
    for (size_t i = 0; i < graph.fetches.size(); ++i)
      if (graph.device(graph.fetches[i].node) == device)
        plan.fetches[i] = {index, builder.PlaceOf(graph.fetches[i]), graph.desc(graph.fetches[i])};
    for (size_t i = 0; i < graph.feeds.size(); ++i)
      if (graph.device(graph.feeds[i].node) == device)
        plan.feeds[i] = {index, {Region::kFeed, static_cast<int>(i), 0}, graph.desc(graph.feeds[i])};
  }
  for (ChannelSpec& channel : plan.channels) {
    channel.from = partition_of.at(channel.from);
    channel.to = partition_of.at(channel.to);
  }
  plan.variable_version = request.variables->version;
  AddStats(plan, graph, request, &plan.stats);
  return plan;
}

}  // namespace muster
