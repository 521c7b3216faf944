#include "compile/compile_graph.h"

#include <algorithm>
#include <queue>
#include <set>

#include <fmt/format.h>

#include "graph/op_def.h"
#include "muster/error.h"

namespace muster {
namespace {

constexpr int64_t kOrderSpacing = 1 << 16;  // room for nodes that passes insert

bool IsFullyFed(const Graph& graph, NodeId id, const std::vector<Output>& feeds) {
  const int count = static_cast<int>(graph.node(id).outputs.size());
  for (int i = 0; i < count; ++i)
    if (std::find(feeds.begin(), feeds.end(), Output{id, i}) == feeds.end()) return false;
  return count > 0;
}

void CheckFeeds(const Graph& graph, const std::vector<Output>& feeds) {
  for (size_t i = 0; i < feeds.size(); ++i) {
    graph.CheckExists(feeds[i]);
    const Node& node = graph.node(feeds[i].node);
    if (std::find(feeds.begin(), feeds.begin() + static_cast<long>(i), feeds[i]) != feeds.begin() + static_cast<long>(i))
      throw InvalidArgument(fmt::format("{} is fed twice", node.name));
    if (node.kind == OpKind::kVariable)
      throw InvalidArgument(fmt::format("{} is a variable, which cannot be fed; write it with Session::WriteVariable", node.name));
  }
}

std::vector<bool> Needed(const Graph& graph, const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                         const std::vector<NodeId>& targets) {
  std::vector<bool> needed(static_cast<size_t>(graph.num_nodes()), false);
  std::vector<NodeId> stack(targets);
  for (Output fetch : fetches) stack.push_back(fetch.node);
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (id < 0 || id >= graph.num_nodes()) throw InvalidArgument("a fetch or target is not in this session's graph");
    if (needed[static_cast<size_t>(id)]) continue;
    needed[static_cast<size_t>(id)] = true;
    if (IsFullyFed(graph, id, feeds)) continue;
    for (Output input : graph.node(id).inputs)
      if (std::find(feeds.begin(), feeds.end(), input) == feeds.end()) stack.push_back(input.node);
    for (NodeId control : graph.node(id).control_inputs) stack.push_back(control);
  }
  return needed;
}

}  // namespace

CompileGraph::CompileGraph(const Graph& graph, const std::vector<Output>& fed, const std::vector<Output>& fetched,
                           const std::vector<NodeId>& wanted)
    : seed(static_cast<uint64_t>(graph.seed())) {
  CheckFeeds(graph, fed);
  for (Output fetch : fetched) graph.CheckExists(fetch);
  std::vector<bool> needed = Needed(graph, fed, fetched, wanted);
  std::vector<NodeId> here(static_cast<size_t>(graph.num_nodes()), kNoNode);
  std::vector<Output> fed_here(fed.size());
  // A fed value becomes a placeholder of its own, whatever produces it in the graph.
  for (size_t i = 0; i < fed.size(); ++i) {
    Node node;
    node.kind = OpKind::kPlaceholder;
    node.name = graph.node(fed[i].node).name;
    node.attrs = PlaceholderAttrs{graph.dtype(fed[i]), graph.shape(fed[i])};
    node.outputs = {graph.desc(fed[i])};
    node.device = graph.node(fed[i].node).device;
    node.id = size();
    fed_here[i] = {node.id, 0};
    nodes_.push_back(std::move(node));
    info_.push_back({fed[i].node, static_cast<int64_t>(fed[i].node) * kOrderSpacing, 0, true});
  }
  auto map_output = [&](Output o) {
    for (size_t i = 0; i < fed.size(); ++i)
      if (fed[i] == o) return fed_here[i];
    return Output{here[static_cast<size_t>(o.node)], o.index};
  };
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!needed[static_cast<size_t>(id)]) continue;
    if (IsFullyFed(graph, id, fed)) continue;
    Node node = graph.node(id);
    if (node.kind == OpKind::kPlaceholder)
      throw InvalidArgument(fmt::format("placeholder {} ({}) is needed but not fed", node.name, node.outputs[0].ToString()));
    node.id = size();
    for (Output& input : node.inputs) input = map_output(input);
    std::erase_if(node.control_inputs, [&](NodeId c) { return here[static_cast<size_t>(c)] == kNoNode; });
    for (NodeId& control : node.control_inputs) control = here[static_cast<size_t>(control)];
    here[static_cast<size_t>(id)] = node.id;
    nodes_.push_back(std::move(node));
    info_.push_back({id, static_cast<int64_t>(id) * kOrderSpacing, 0, true});
  }
  feeds = fed_here;
  for (Output fetch : fetched) fetches.push_back(map_output(fetch));
  for (NodeId target : wanted)
    if (here[static_cast<size_t>(target)] != kNoNode) targets.push_back(here[static_cast<size_t>(target)]);
}

NodeId CompileGraph::VariableBehind(Output value) const {
  NodeId id = value.node;
  while (GetOpDef(node(id).kind).is_alias) id = node(id).inputs[0].node;
  if (GetOpDef(node(id).kind).num_refs > 0) id = node(id).inputs[0].node;
  return node(id).kind == OpKind::kVariable ? id : kNoNode;
}

NodeId CompileGraph::Add(OpKind kind, const std::string& name, std::vector<Output> inputs, Attrs attrs, NodeId near, bool before) {
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
  nodes_.push_back(std::move(node));
  const Info& at = info_[static_cast<size_t>(near)];
  info_.push_back({kNoNode, at.order + (before ? -1 : 1), at.device, true});
  return size() - 1;
}

void CompileGraph::ReplaceUses(Output from, Output to) {
  for (NodeId id = 0; id < size(); ++id) {
    if (!is_live(id)) continue;
    for (Output& input : mutable_node(id).inputs)
      if (input == from) input = to;
  }
  for (Output& fetch : fetches)
    if (fetch == from) fetch = to;
}

void CompileGraph::MoveControlUses(NodeId from, NodeId to) {
  for (NodeId id = 0; id < size(); ++id) {
    if (!is_live(id) || id == to) continue;
    for (NodeId& control : mutable_node(id).control_inputs)
      if (control == from) control = to;
  }
  for (NodeId& target : targets)
    if (target == from) target = to;
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
  std::vector<NodeId> stack(targets);
  for (Output fetch : fetches) stack.push_back(fetch.node);
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (used[static_cast<size_t>(id)]) continue;
    used[static_cast<size_t>(id)] = true;
    for (Output input : node(id).inputs) stack.push_back(input.node);
    for (NodeId control : node(id).control_inputs) stack.push_back(control);
  }
  for (NodeId id = 0; id < size(); ++id)
    if (!used[static_cast<size_t>(id)]) Remove(id);
}

std::vector<std::vector<std::vector<Use>>> CompileGraph::Uses() const {
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
  std::vector<Use> readers;
  for (NodeId id = 0; id < size(); ++id) {
    if (!is_live(id)) continue;
    const std::vector<Output>& inputs = node(id).inputs;
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i)
      if (inputs[static_cast<size_t>(i)] == o) readers.push_back({id, i});
  }
  return readers;
}

std::vector<NodeId> CompileGraph::ReadAfter(Output value, NodeId reader) const {
  return VariableBehind(value) == kNoNode ? std::vector<NodeId>{} : node(reader).control_inputs;
}

bool CompileGraph::IsFetched(Output o) const { return std::find(fetches.begin(), fetches.end(), o) != fetches.end(); }

std::vector<NodeId> CompileGraph::TopologicalOrder() const {
  std::vector<int> waiting(static_cast<size_t>(size()), 0);
  std::vector<std::vector<NodeId>> next(static_cast<size_t>(size()));
  auto edge = [&](NodeId from, NodeId to) {
    next[static_cast<size_t>(from)].push_back(to);
    ++waiting[static_cast<size_t>(to)];
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
    throw InvalidArgument("reads and updates of variables wait for each other in a circle; a control dependency must break it");
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
