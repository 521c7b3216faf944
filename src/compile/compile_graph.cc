#include "compile/compile_graph.h"

#include <algorithm>
#include <queue>

#include <fmt/format.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "graph/op_def.h"
#include "muster/error.h"

namespace muster {

NodeId CompileGraph::VariableBehind(Output value) const {
  NodeId id = value.node;
  while (GetOpDef(node(id).kind).is_alias) id = node(id).inputs[0].node;
  if (GetOpDef(node(id).kind).num_refs > 0) id = node(id).inputs[0].node;
  return node(id).kind == OpKind::kVariable ? id : kNoNode;
}

NodeId CompileGraph::Add(OpKind kind, const std::string& name, std::vector<Output> inputs, Attrs attrs, NodeId near,
                         bool before) {
  Node node;
  node.kind = kind;
  node.name = name;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.device = this->node(near).device;
  ShapeContext context{node, {}};
  for (Output input : node.inputs) context.inputs.push_back(desc(input));
  node.outputs = GetOpDef(kind).shape_rule(context);
  node.id = size();
  const Info& at = info_[static_cast<size_t>(near)];
  AddNode(std::move(node), {kNoNode, at.order + (before ? -1 : 1), at.device, true});
  return size() - 1;
}

void CompileGraph::AddNode(Node node, Info info) {
  ThrowIfInterrupted();
  work_ += 1 + static_cast<int64_t>(node.inputs.size() + node.control_inputs.size());
  uses_.AddNode(node);
  nodes_.push_back(std::move(node));
  info_.push_back(info);
}

void CompileGraph::SetInput(NodeId id, size_t input, Output value) {
  ++work_;
  Output& now = nodes_[static_cast<size_t>(id)].inputs[input];
  uses_.MoveInput({id, static_cast<int>(input)}, now, value);
  now = value;
}

void CompileGraph::AddInput(NodeId id, Output value) {
  ++work_;
  std::vector<Output>& inputs = nodes_[static_cast<size_t>(id)].inputs;
  uses_.AddInput({id, static_cast<int>(inputs.size())}, value);
  inputs.push_back(value);
}

void CompileGraph::SetControlInput(NodeId id, size_t input, NodeId awaited) {
  ++work_;
  NodeId& now = nodes_[static_cast<size_t>(id)].control_inputs[input];
  uses_.MoveControl({id, static_cast<int>(input)}, now, awaited);
  now = awaited;
}

void CompileGraph::AddControlInput(NodeId id, NodeId awaited) {
  ++work_;
  std::vector<NodeId>& controls = nodes_[static_cast<size_t>(id)].control_inputs;
  uses_.AddControl({id, static_cast<int>(controls.size())}, awaited);
  controls.push_back(awaited);
}

void CompileGraph::SetControlInputs(NodeId id, std::vector<NodeId> awaited) {
  Node& node = nodes_[static_cast<size_t>(id)];
  uses_.RemoveControls(node);
  node.control_inputs.clear();
  for (NodeId control : awaited) AddControlInput(id, control);
}

void CompileGraph::DropOutputs(NodeId id, size_t count) {
  Node& node = nodes_[static_cast<size_t>(id)];
  for (int i = static_cast<int>(count); i < static_cast<int>(node.outputs.size()); ++i)
    MUSTER_CHECK(NumReaders({id, i}) == 0);
  node.outputs.resize(count);
}

void CompileGraph::SetFetch(size_t fetch, Output value) {
  std::vector<size_t>& before = fetches_of_[fetches_[fetch]];
  std::erase(before, fetch);
  if (before.empty()) fetches_of_.erase(fetches_[fetch]);
  fetches_of_[value].push_back(fetch);
  fetches_[fetch] = value;
}

void CompileGraph::AddTarget(NodeId id) {
  targets_at_[id].push_back(targets_.size());
  targets_.push_back(id);
}

void CompileGraph::ReplaceUses(Output from, Output to) {
  if (from == to) return;
  while (NumReaders(from) > 0) {
    const Use use = uses_.Readers(from).back();
    SetInput(use.node, static_cast<size_t>(use.input), to);
  }
  const auto fetched = fetches_of_.extract(from);
  if (fetched.empty()) return;
  std::vector<size_t>& fetches = fetches_of_[to];
  for (size_t fetch : fetched.mapped()) {
    fetches_[fetch] = to;
    fetches.push_back(fetch);
  }
}

void CompileGraph::MoveControlUses(NodeId from, NodeId to) {
  if (from == to) return;
  const std::span<const Use> waiters = uses_.Waiters(from);
  work_ += 1 + static_cast<int64_t>(waiters.size());
  for (const Use& use : std::vector<Use>(waiters.begin(), waiters.end()))
    if (use.node != to) SetControlInput(use.node, static_cast<size_t>(use.input), to);
  const auto wanted = targets_at_.extract(from);
  if (wanted.empty()) return;
  std::vector<size_t>& targets = targets_at_[to];
  for (size_t target : wanted.mapped()) {
    targets_[target] = to;
    targets.push_back(target);
  }
}

void CompileGraph::Remove(NodeId id) {
  if (!is_live(id)) return;
  work_ += 1 + static_cast<int64_t>(node(id).inputs.size() + node(id).control_inputs.size());
  info_[static_cast<size_t>(id)].live = false;
  uses_.RemoveInputs(node(id));
  uses_.RemoveControls(node(id));
}

bool CompileGraph::MayFuse(const std::vector<NodeId>& members) const {
  return std::all_of(members.begin(), members.end(),
                     [&](NodeId id) { return node(id).control_inputs.empty() && device(id) == device(members[0]); });
}

void CompileGraph::ReplaceMembers(const std::vector<NodeId>& members, NodeId fused) {
  for (NodeId member : members) {
    MoveControlUses(member, fused);
    Remove(member);
  }
}

void CompileGraph::RemoveUnused() {
  std::vector<bool> used(static_cast<size_t>(size()), false);
  std::vector<NodeId> stack(targets_);
  for (Output fetch : fetches_) stack.push_back(fetch.node);
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (used[static_cast<size_t>(id)]) continue;
    used[static_cast<size_t>(id)] = true;
    work_ += 1 + static_cast<int64_t>(node(id).inputs.size() + node(id).control_inputs.size());
    for (Output input : node(id).inputs) stack.push_back(input.node);
    for (NodeId control : node(id).control_inputs) stack.push_back(control);
  }
  work_ += size();
  for (NodeId id = 0; id < size(); ++id)
    if (!used[static_cast<size_t>(id)]) Remove(id);
}

std::vector<std::vector<std::vector<Use>>> CompileGraph::Uses() const {
  work_ += size();
  std::vector<std::vector<std::vector<Use>>> uses(static_cast<size_t>(size()));
  for (NodeId id = 0; id < size(); ++id) uses[static_cast<size_t>(id)].resize(node(id).outputs.size());
  for (NodeId id = 0; id < size(); ++id) {
    if (!is_live(id)) continue;
    for (int i = 0; i < static_cast<int>(node(id).inputs.size()); ++i) {
      const Output input = node(id).inputs[static_cast<size_t>(i)];
      uses[static_cast<size_t>(input.node)][static_cast<size_t>(input.index)].push_back({id, i});
    }
  }
  return uses;
}

std::vector<Use> CompileGraph::Readers(Output o) const {
  const std::span<const Use> uses = uses_.Readers(o);
  std::vector<Use> readers(uses.begin(), uses.end());
  work_ += 1 + static_cast<int64_t>(readers.size());
  std::sort(readers.begin(), readers.end());
  return readers;
}

std::vector<NodeId> CompileGraph::ReadAfter(Output value, NodeId reader) const {
  return VariableBehind(value) == kNoNode ? std::vector<NodeId>{} : node(reader).control_inputs;
}

std::vector<NodeId> CompileGraph::TopologicalOrder() const {
  work_ += size();
  std::vector<int> waiting(static_cast<size_t>(size()), 0);
  std::vector<std::vector<NodeId>> next(static_cast<size_t>(size()));
  auto edge = [&](NodeId from, NodeId to) {
    next[static_cast<size_t>(from)].push_back(to);
    ++waiting[static_cast<size_t>(to)];
    ++work_;
  };
  for (NodeId id = 0; id < size(); ++id) {
    if (!is_live(id)) continue;
    for (Output input : node(id).inputs) edge(input.node, id);
    for (NodeId control : node(id).control_inputs) edge(control, id);
  }
  using Item = std::pair<int64_t, NodeId>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> ready;
  int live = 0;
  for (NodeId id = 0; id < size(); ++id) {
    if (!is_live(id)) continue;
    ++live;
    if (waiting[static_cast<size_t>(id)] == 0) ready.push({order(id), id});
  }
  std::vector<NodeId> sorted;
  while (!ready.empty()) {
    const NodeId id = ready.top().second;
    ready.pop();
    sorted.push_back(id);
    for (NodeId to : next[static_cast<size_t>(id)])
      if (--waiting[static_cast<size_t>(to)] == 0) ready.push({order(to), to});
  }
  if (static_cast<int>(sorted.size()) != live)
    throw InvalidArgument(
        "reads and updates of variables wait for each other in a circle; a control dependency must break it");
  return sorted;
}

std::string CompileGraph::ToText() const {
  std::string text;
  for (NodeId id : TopologicalOrder()) {
    const Node& n = node(id);
    text += fmt::format("{} = {}(", n.name, OpName(n.kind));
    for (size_t i = 0; i < n.inputs.size(); ++i)
      text += fmt::format("{}{}:{}", i == 0 ? "" : ", ", node(n.inputs[i].node).name, n.inputs[i].index);
    for (NodeId control : n.control_inputs) text += fmt::format(", ^{}", node(control).name);
    text += ") ->";
    for (const TensorDesc& d : n.outputs) text += " " + d.ToString();
    text += fmt::format(" on device {}\n", device(id));
  }
  return text;
}

}  // namespace muster
