#include <algorithm>
#include <map>
#include <set>

#include "base/interrupt.h"
#include "compile/after_backward.h"
#include "compile/bucket_views.h"
#include "compile/by_device.h"
#include "compile/lifetimes.h"
#include "compile/passes.h"
#include "compile/phase.h"
#include "graph/op_def.h"
#include "memory/arena_cache.h"

namespace muster {
namespace {

// Builds one partition: its steps in schedule order, then where every value lives.
class PartitionBuilder {
 public:
  // "after_backward": by node, whether something of the backward pass went into its value.
  PartitionBuilder(const CompileGraph& graph, const std::vector<ChannelSpec>& channels, const CompileRequest& request,
                   const std::vector<bool>& after_backward, int device, ArenaCache* arenas)
      : graph_(graph),
        channels_(channels),
        request_(request),
        after_backward_(after_backward),
        arenas_(arenas),
        lifetimes_(graph) {
    partition_.device_index = device;
    partition_.device = request.devices[static_cast<size_t>(device)].name;
  }

  // "order": the device's nodes as scheduled; "fetches": numbers of those that it has.
  Partition Build(const std::vector<NodeId>& order, const std::vector<size_t>& fetches) {
    for (NodeId id : order) AddNode(id);
    for (size_t fetch : fetches) lifetimes_.Use(graph_.fetches()[fetch], static_cast<int>(partition_.steps.size()));
    if (request_.use_arena)
      views_ = FindBucketViews(graph_, lifetimes_, nodes_, [this](Output root) { return OwnsMemory(root); });
    KeepWhatIsSent();
    ShareInPlace();
    PlaceBuckets();
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
    if (node.kind == OpKind::kPlaceholder) return {Region::kFeed, root.node, 0};  // feeds are the first nodes
    return places_.at(lifetimes_.Group(root));
  }

 private:
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
    step.updates_from_gradient = step.phase == kUpdate && after_backward_[static_cast<size_t>(id)];
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
    ThrowIfInterrupted();
    const CompileDevice& device = request_.devices[static_cast<size_t>(partition_.device_index)];
    const KernelRow* row = FindRow(graph_, id, device);
    const Node& node = graph_.node(id);
    if (row == nullptr)
      throw Unimplemented(std::string(OpName(node.kind)) + " " + node.name + ": no kernel on " +
                          device.name.ToString());
    try {
      return PrepareOn(device, *row, RequestFor(graph_, id));
    } catch (const Error& error) {
      throw error.Within(std::string(OpName(node.kind)) + " " + node.name);
    }
  }

  // A copy on a stream of its own may be late: what it reads keeps its memory for some steps more, so that their
  // kernels need not wait for it.
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
    return request_.devices[static_cast<size_t>(channel.from)].is_asynchronous ||
           request_.devices[static_cast<size_t>(channel.to)].is_asynchronous;
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
        const bool is_taken =
            std::find(taken.begin(), taken.end(), input) != taken.end() || lifetimes_.IsMerged(output);
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
  bool OwnsMemory(Output root) const {
    return !IsSource(graph_.node(root.node).kind) && graph_.VariableBehind(root) == kNoNode;
  }

  // Buckets lie among the gradients (or where they arrive), and their tensors in them.
  void PlaceBuckets() {
    std::set<int> received;
    for (NodeId id : nodes_)
      if (graph_.node(id).kind == OpKind::k_Recv) received.insert(lifetimes_.Group({id, 0}));
    for (const BucketView& view : views_) {
      const int group = lifetimes_.Group(view.bucket);
      if (places_.count(group) > 0) continue;
      const bool arrives = received.count(group) > 0;
      int64_t& end = arrives ? partition_.channel_bytes : partition_.gradient_bytes;
      places_[group] = {arrives ? Region::kChannel : Region::kGradient, 0, end};
      end += AlignUp(graph_.desc(view.bucket).byte_size());
    }
    for (const BucketView& view : views_) {
      Place place = places_.at(lifetimes_.Group(view.bucket));
      place.offset += view.offset;
      places_.emplace(lifetimes_.Group(view.value), place);
    }
  }

  // Gradients that updates of whole variables read lie side by side, in the order of the variables.
  void PlaceGradients() {
    if (!request_.use_arena) return;
    std::map<int, Output> in_order;  // by the variable's place in the order of memory
    for (NodeId id : nodes_) {
      const Node& node = graph_.node(id);
      if (GetOpDef(node.kind).num_refs == 0 || node.kind == OpKind::kAssign || node.kind == OpKind::kAssignAdd ||
          node.kind == OpKind::kAssignSub)
        continue;
      const int variable = request_.variables->IndexOf(graph_.original(node.inputs[0].node));
      for (size_t i = 1; i < node.inputs.size(); ++i) {
        const Output root = lifetimes_.Root(node.inputs[i]);
        const bool fits = graph_.desc(root).shape.rank() > 0 && graph_.desc(root) == graph_.desc(node.inputs[0]);
        if (fits && OwnsMemory(root)) in_order.emplace(request_.variables->position(variable), root);
      }
    }
    int64_t& offset = partition_.gradient_bytes;
    for (const auto& [position, gradient] : in_order) {
      const int group = lifetimes_.Group(gradient);
      if (places_.count(group) > 0) continue;
      places_[group] = {Region::kGradient, 0, offset};
      offset += AlignUp(graph_.desc(gradient).byte_size());
    }
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
    const ArenaPlan& arena = arenas_->Plan(values, kValueAlignment);
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
  const std::vector<bool>& after_backward_;
  ArenaCache* const arenas_;
  Lifetimes lifetimes_;
  Partition partition_;
  std::vector<NodeId> nodes_;        // the node of each step
  std::vector<int64_t> workspaces_;  // by step
  std::vector<std::vector<std::pair<int, int>>> in_place_;
  std::vector<BucketView> views_;
  std::map<NodeId, int> constants_;
  std::map<int, Place> places_;  // by lifetime group; -1-s for the workspace of step s
};

}  // namespace

Plan Lower(CompileGraph& graph, std::vector<ChannelSpec> channels, const CompileRequest& request) {
  const std::vector<NodeId> order = graph.TopologicalOrder();
  const std::vector<bool> after_backward = AfterBackward(graph, order);
  const std::vector<std::vector<NodeId>> nodes = ByDevice(graph, order, request.devices.size());
  Plan plan;
  plan.channels = std::move(channels);
  plan.feeds.resize(graph.feeds().size());
  plan.fetches.resize(graph.fetches().size());
  const std::vector<std::vector<size_t>> fetches = ByDevice(graph, graph.fetches(), nodes.size()),
                                         feeds = ByDevice(graph, graph.feeds(), nodes.size());
  std::vector<int> partition_of(nodes.size(), -1);
  ArenaCache arenas;
  for (size_t device = 0; device < nodes.size(); ++device) {
    if (nodes[device].empty()) continue;
    PartitionBuilder builder(graph, plan.channels, request, after_backward, static_cast<int>(device), &arenas);
    const int index = partition_of[device] = static_cast<int>(plan.partitions.size());
    plan.partitions.push_back(builder.Build(nodes[device], fetches[device]));
    for (const Step& step : plan.partitions.back().steps)
      if (step.recv_channel >= 0) {
        ChannelSpec& channel = plan.channels[static_cast<size_t>(step.recv_channel)];
        channel.place = step.outputs[0];
        channel.desc = step.output_descs[0];  // in the form that the layout pass chose
      }
    for (size_t i : fetches[device])
      plan.fetches[i] = {index, builder.PlaceOf(graph.fetches()[i]), graph.desc(graph.fetches()[i])};
    for (size_t i : feeds[device])
      plan.feeds[i] = {index, {Region::kFeed, static_cast<int>(i), 0}, graph.desc(graph.feeds()[i])};
  }
  for (ChannelSpec& channel : plan.channels) {
    channel.from = partition_of[static_cast<size_t>(channel.from)];
    channel.to = partition_of[static_cast<size_t>(channel.to)];
  }
  plan.variable_version = request.variables->version;
  CountBytes(plan, graph, request);
  return plan;
}

}  // namespace muster
