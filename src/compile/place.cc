#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "compile/passes.h"
#include "graph/op_def.h"

namespace muster {
namespace {

// Nodes that must share a device, as union-find over ids.
class Groups {
 public:
  explicit Groups(int size) : parent_(static_cast<size_t>(size)) { std::iota(parent_.begin(), parent_.end(), 0); }
  NodeId Find(NodeId id) {
    while (parent_[static_cast<size_t>(id)] != id) id = parent_[static_cast<size_t>(id)] = parent_[static_cast<size_t>(parent_[static_cast<size_t>(id)])];
    return id;
  }
  void Unite(NodeId a, NodeId b) { parent_[static_cast<size_t>(Find(b))] = Find(a); }

 private:
  std::vector<NodeId> parent_;
};

Groups Colocate(const CompileGraph& graph) {
  Groups groups(graph.size());
  std::unordered_map<std::string, NodeId> by_name;
  for (NodeId id = 0; id < graph.size(); ++id) by_name[graph.node(id).name] = id;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    for (int i = 0; i < GetOpDef(node.kind).num_refs; ++i) groups.Unite(node.inputs[static_cast<size_t>(i)].node, id);
    for (const std::string& name : node.colocate_with)
      if (auto it = by_name.find(name); it != by_name.end()) groups.Unite(it->second, id);
  }
  return groups;
}

// The parts that members of one group ask for, together; a contradiction is the user's error.
DeviceName Merge(const DeviceName& a, const DeviceName& b, const std::string& node) {
  auto conflict = [](const auto& x, const auto& y) { return x && y && *x != *y; };
  if (conflict(a.job, b.job) || conflict(a.task, b.task) || conflict(a.type, b.type) || conflict(a.index, b.index))
    throw InvalidArgument(fmt::format("{} asks for device {}, but an operation it must share a device with asks for {}", node,
                                      b.ToString(), a.ToString()));
  return a.MergedInto(b);
}

bool NeedsKernel(const Node& node) {
  switch (node.kind) {
    case OpKind::kPlaceholder: case OpKind::kConst: case OpKind::kVariable: case OpKind::kNoOp: return false;
    default: return !GetOpDef(node.kind).is_alias;
  }
}

std::string Known(const CompileRequest& request) {
  std::string text;
  for (const CompileDevice& d : request.devices) text += (text.empty() ? "" : ", ") + d.name.ToString();
  return text;
}

int FindDevice(const DeviceName& wanted, const CompileRequest& request) {
  for (size_t i = 0; i < request.devices.size(); ++i)
    if (wanted.Matches(request.devices[i].name)) return static_cast<int>(i);
  return -1;
}

int ChooseDevice(const DeviceName& wanted, const std::string& node, const CompileRequest& request) {
  int device = FindDevice(wanted, request);
  if (device < 0 && request.allow_soft_placement) {
    DeviceName soft = wanted;  // keep job and task, drop type and index
    soft.type.reset();
    soft.index.reset();
    device = FindDevice(soft, request);
  }
  if (device < 0)
    throw InvalidArgument(fmt::format("could not satisfy the explicit device specification {} of {}; devices: {}",
                                      wanted.ToString(), node, Known(request)));
  return device;
}

VariableTable::Entry* EntryOf(const CompileGraph& graph, NodeId id, const CompileRequest& request) {
  if (graph.node(id).kind != OpKind::kVariable) return nullptr;
  const int index = request.variables->IndexOf(graph.original(id));
  return index < 0 ? nullptr : &request.variables->mutable_entry(index);
}

}  // namespace

KernelRequest RequestFor(const CompileGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  KernelRequest request{node.kind, &node.attrs, {}, node.outputs, node.name, graph.seed};
  for (Output input : node.inputs) request.inputs.push_back(graph.desc(input));
  return request;
}

const KernelRow* FindRow(const CompileGraph& graph, NodeId id, const CompileDevice& device) {
  return device.kernels->Find(graph.node(id).kind, KernelDType(RequestFor(graph, id)));
}

void PlaceNodes(CompileGraph& graph, const CompileRequest& request) {
  Groups groups = Colocate(graph);
  std::unordered_map<NodeId, DeviceName> wanted;
  for (NodeId id = 0; id < graph.size(); ++id) {
    DeviceName& group = wanted[groups.Find(id)];
    group = Merge(group, graph.node(id).device, graph.node(id).name);
  }
  std::unordered_map<NodeId, int> chosen;
  for (NodeId id = 0; id < graph.size(); ++id)  // variables stay where they are, and their groups with them
    if (const VariableTable::Entry* entry = EntryOf(graph, id, request); entry != nullptr && entry->is_placed) chosen[groups.Find(id)] = entry->device;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const NodeId root = groups.Find(id);
    auto [it, is_new] = chosen.emplace(root, 0);
    if (is_new) it->second = ChooseDevice(wanted[root], graph.node(id).name, request);
    graph.set_device(id, it->second);
    const CompileDevice& device = request.devices[static_cast<size_t>(it->second)];
    if (NeedsKernel(graph.node(id)) && FindRow(graph, id, device) == nullptr)
      throw Unimplemented(fmt::format("{} {}: {} has no kernel for {}", OpName(graph.node(id).kind), graph.node(id).name,
                                      device.name.ToString(), DTypeName(KernelDType(RequestFor(graph, id)))));
    if (VariableTable::Entry* entry = EntryOf(graph, id, request)) {
      entry->device = it->second;
      entry->is_placed = true;
    }
  }
}

}  // namespace muster
