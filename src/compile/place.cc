// TensorFlow 1's placement (placer.cc, colocation_graph.cc), rule by rule; docs/placement.md says it for users.

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "compile/candidates.h"
#include "compile/colocation.h"
#include "compile/group_request.h"
#include "compile/passes.h"
#include "compile/placement.h"
#include "compile/placement_messages.h"
#include "graph/op_def.h"
#include "plan/conditional_kernel.h"

namespace muster {
namespace {

// A node that makes a value from nothing: it goes where the value is used.
bool IsGenerator(const Node& node) {
  return node.inputs.empty() && node.outputs.size() == 1 && node.kind != OpKind::kVariable;
}

// A node that only relabels its input's bytes: it stays where they are. TensorFlow has this rule for Shape, Size and
// Rank, which do not exist here because shapes are known when the graph is built.
bool FollowsItsInput(const Node& node) { return GetOpDef(node.kind).is_alias; }

}  // namespace

int Placement::DeviceOf(NodeId id) const {
  const int device = device_[static_cast<size_t>(id)];
  if (device < 0) throw Error(*problems_.at(id));
  return device;
}

std::string Placement::Line(const Graph& graph, NodeId id) const {
  const auto problem = problems_.find(id);
  return fmt::format("{}: ({}): {}", graph.node(id).name, OpName(graph.node(id).kind),
                     problem == problems_.end() ? NameOf(id).ToString() : "none: " + problem->second->message());
}

// One placement of one graph. Groups are decided one after another and never changed.
class Placer {
 public:
  explicit Placer(const CompileRequest& request)
      : request_(request),
        graph_(*request.graph),
        groups_(graph_),
        candidates_(request.devices, request.own_task),
        states_(static_cast<size_t>(groups_.size())),
        result_(graph_.num_nodes(), request.devices) {}

  Placement Run() {
    for (int group = 0; group < groups_.size(); ++group) Describe(group);
    for (NodeId id = 0; id < graph_.num_nodes(); ++id)
      if (!IsDecided(GroupOf(id)) && !GroupOf(id).all_generators) Decide(id, PreferredBy(id));
    // Backwards: a generator that another one waits for comes before it.
    const std::vector<std::vector<NodeId>> readers = ReadersOfGenerators();
    for (NodeId id = graph_.num_nodes() - 1; id >= 0; --id)
      if (!IsDecided(GroupOf(id))) Decide(id, WhereAllReadersAre(id, readers[static_cast<size_t>(id)]));
    CheckVariables();
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) Record(id);
    return std::move(result_);
  }

 private:
  struct GroupState {
    DeviceName wanted;
    Support support = 0;
    bool all_generators = true;
    int device = -1;
    std::shared_ptr<const Error> problem;
  };

  GroupState& GroupOf(NodeId id) { return states_[static_cast<size_t>(groups_.GroupOf(id))]; }
  const std::vector<NodeId>& MembersOf(NodeId id) const { return groups_.members(groups_.GroupOf(id)); }
  static bool IsDecided(const GroupState& state) { return state.device >= 0 || state.problem != nullptr; }

  // What the group asks for and what it can run on. A group with a variable that lives somewhere is decided by that.
  void Describe(int group) {
    GroupState& state = states_[static_cast<size_t>(group)];
    state.support = candidates_.Everywhere();
    for (NodeId id : groups_.members(group)) {
      state.support &= candidates_.SupportOf(graph_, id);
      state.all_generators = state.all_generators && IsGenerator(graph_.node(id));
    }
    try {
      const int home = HomeOf(groups_.members(group));
      std::optional<DeviceName> home_name;
      if (home >= 0) home_name = candidates_.name(home);
      state.wanted = GroupRequest(graph_, groups_.members(group), home_name, request_.allow_soft_placement);
      if (home >= 0 && candidates_.Runs(home, state.support)) state.device = home;
      else if (home >= 0) Fail(state, groups_.members(group));
    } catch (const Error& error) {
      state.problem = std::make_shared<const Error>(error);
    }
  }

  // Where the variables among these nodes live already, or -1.
  int HomeOf(const std::vector<NodeId>& members) const {
    NodeId first = kNoNode;
    for (NodeId id : members) {
      const VariableTable::Entry* entry = EntryOf(id);
      if (entry == nullptr || !entry->is_placed) continue;
      if (first == kNoNode) first = id;
      if (const int home = EntryOf(first)->device; home != entry->device)
        throw InvalidArgument(fmt::format(
            "variables {} and {} must share a device, but live on {} and {} already", graph_.node(first).name,
            graph_.node(id).name, candidates_.name(home).ToString(), candidates_.name(entry->device).ToString()));
    }
    return first == kNoNode ? -1 : EntryOf(first)->device;
  }

  // Chooses the group's device: the preferred one if it is among the candidates (-1: none is preferred), else the
  // first.
  void Decide(NodeId id, int preferred) {
    GroupState& state = GroupOf(id);
    DeviceName wanted = state.wanted;
    if (candidates_.First(wanted, state.support) < 0 && request_.allow_soft_placement) wanted = wanted.Task();
    state.device = preferred >= 0 && candidates_.Has(preferred, wanted, state.support)
                       ? preferred
                       : candidates_.First(wanted, state.support);
    if (state.device < 0) Fail(state, MembersOf(id));
  }

  void Fail(GroupState& state, const std::vector<NodeId>& members) const {
    state.problem = std::make_shared<const Error>(NoDeviceError(graph_, candidates_, members, state.wanted));
  }

  int PreferredBy(NodeId id) {
    const Node& node = graph_.node(id);
    return FollowsItsInput(node) ? GroupOf(node.inputs[0].node).device : -1;
  }

  // The one device on which all readers of a generator are, or -1.
  int WhereAllReadersAre(NodeId id, const std::vector<NodeId>& readers) {
    int device = -1;
    for (NodeId reader : readers) {
      if (groups_.GroupOf(reader) == groups_.GroupOf(id)) continue;
      const int other = GroupOf(reader).device;
      if (other < 0 || (device >= 0 && other != device)) return -1;
      device = other;
    }
    return device;
  }

  // For each generator the nodes that take its value or wait for it.
  std::vector<std::vector<NodeId>> ReadersOfGenerators() const {
    std::vector<std::vector<NodeId>> readers(static_cast<size_t>(graph_.num_nodes()));
    auto add = [&](NodeId from, NodeId reader) {
      if (IsGenerator(graph_.node(from))) readers[static_cast<size_t>(from)].push_back(reader);
    };
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      for (Output input : graph_.node(id).inputs) add(input.node, id);
      for (NodeId control : graph_.node(id).control_inputs) add(control, id);
    }
    return readers;
  }

  // State must have a place, whatever runs.
  void CheckVariables() {
    for (NodeId id = 0; id < graph_.num_nodes(); ++id)
      if (EntryOf(id) != nullptr && GroupOf(id).problem != nullptr) throw Error(*GroupOf(id).problem);
  }

  // Writes a node's device into the result and, for a variable, into the table: it stays there.
  void Record(NodeId id) {
    const GroupState& state = GroupOf(id);
    if (state.problem != nullptr) {
      result_.problems_[id] = state.problem;
      return;
    }
    result_.device_[static_cast<size_t>(id)] = state.device;
    if (!graph_.node(id).device.Matches(candidates_.name(state.device)))
      result_.moved_.push_back(Moved(graph_, candidates_, id, state.device, MembersOf(id)));
    VariableTable::Entry* entry = EntryOf(id);
    if (entry == nullptr || entry->is_placed) return;
    entry->device = state.device;
    entry->is_placed = true;
  }

  VariableTable::Entry* EntryOf(NodeId id) const {
    if (graph_.node(id).kind != OpKind::kVariable) return nullptr;
    const int index = request_.variables->IndexOf(id);
    return index < 0 ? nullptr : &request_.variables->mutable_entry(index);
  }

  const CompileRequest& request_;
  const Graph& graph_;
  const ColocationGroups groups_;
  const Candidates candidates_;
  std::vector<GroupState> states_;
  Placement result_;
};

Placement PlaceGraph(const CompileRequest& request) { return Placer(request).Run(); }

void PlaceNodes(CompileGraph& graph, const CompileRequest& request) {
  const Placement placement = PlaceGraph(request);
  for (NodeId id = 0; id < graph.size(); ++id) {
    MUSTER_CHECK(graph.original(id) != kNoNode);
    graph.set_device(id, placement.DeviceOf(graph.original(id)));
  }
}

KernelRequest RequestFor(const CompileGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  KernelRequest request{node.kind, &node.attrs, {}, node.outputs, node.name, graph.seed()};
  for (Output input : node.inputs) request.inputs.push_back(graph.desc(input));
  return request;
}

PreparedKernel PrepareOn(const CompileDevice& device, const KernelRow& row, const KernelRequest& request) {
  return device.is_asynchronous ? row.prepare(request, device.caps) : PrepareKernel(row, request, device.caps);
}

const KernelRow* FindRow(const CompileGraph& graph, NodeId id, const CompileDevice& device) {
  return device.kernels->Find(graph.node(id).kind, KernelDType(RequestFor(graph, id)));
}

}  // namespace muster
