// From a user's graph to the compiler's copy of what a plan needs of it.

#include <map>

#include <fmt/format.h>

#include "compile/compile_graph.h"
#include "muster/error.h"

namespace muster {
namespace {

constexpr int64_t kOrderSpacing = 1 << 16;  // room for nodes that passes insert

using Fed = std::map<Output, size_t>;  // number of the feed

bool IsFullyFed(const Graph& graph, NodeId id, const Fed& fed) {
  const int count = static_cast<int>(graph.node(id).outputs.size());
  if (fed.empty()) return false;
  for (int i = 0; i < count; ++i)
    if (fed.count({id, i}) == 0) return false;
  return count > 0;
}

Fed CheckedFeeds(const Graph& graph, const std::vector<Output>& feeds) {
  Fed fed;
  for (Output feed : feeds) {
    graph.CheckExists(feed);
    const Node& node = graph.node(feed.node);
    if (!fed.emplace(feed, fed.size()).second) throw InvalidArgument(fmt::format("{} is fed twice", node.name));
    if (node.kind == OpKind::kVariable)
      throw InvalidArgument(
          fmt::format("{} is a variable, which cannot be fed; write it with Session::WriteVariable", node.name));
  }
  return fed;
}

// The nodes that sum together, by instance.
std::map<std::string, std::vector<NodeId>> Collectives(const Graph& graph) {
  std::map<std::string, std::vector<NodeId>> members;
  for (NodeId id = 0; id < graph.num_nodes(); ++id)
    if (graph.node(id).kind == OpKind::kCollectiveReduce)
      members[graph.node(id).attr<CollectiveAttrs>().instance].push_back(id);
  return members;
}

std::vector<bool> Needed(const Graph& graph, const Fed& fed, const std::vector<Output>& fetches,
                         const std::vector<NodeId>& targets) {
  std::vector<bool> needed(static_cast<size_t>(graph.num_nodes()), false);
  const auto collectives = Collectives(graph);
  std::vector<NodeId> stack(targets);
  for (Output fetch : fetches) stack.push_back(fetch.node);
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (id < 0 || id >= graph.num_nodes()) throw InvalidArgument("a fetch or target is not in this session's graph");
    if (needed[static_cast<size_t>(id)]) continue;
    needed[static_cast<size_t>(id)] = true;
    if (IsFullyFed(graph, id, fed)) continue;
    for (Output input : graph.node(id).inputs)
      if (fed.count(input) == 0) stack.push_back(input.node);
    for (NodeId control : graph.node(id).control_inputs) stack.push_back(control);
    if (graph.node(id).kind == OpKind::kCollectiveReduce)
      for (NodeId other : collectives.at(graph.node(id).attr<CollectiveAttrs>().instance)) stack.push_back(other);
  }
  return needed;
}

}  // namespace

CompileGraph::CompileGraph(const Graph& graph, const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                           const std::vector<NodeId>& targets)
    : seed_(static_cast<uint64_t>(graph.seed())) {
  const Fed fed = CheckedFeeds(graph, feeds);
  for (Output fetch : fetches) graph.CheckExists(fetch);
  const std::vector<bool> needed = Needed(graph, fed, fetches, targets);
  std::vector<NodeId> here(static_cast<size_t>(graph.num_nodes()), kNoNode);
  const auto info = [](NodeId original) {
    return Info{original, static_cast<int64_t>(original) * kOrderSpacing, 0, true};
  };
  // A fed value becomes a placeholder of its own, whatever produces it in the graph.
  for (Output feed : feeds) {
    Node node;
    node.kind = OpKind::kPlaceholder;
    node.name = graph.node(feed.node).name;
    node.attrs = PlaceholderAttrs{graph.dtype(feed), graph.shape(feed)};
    node.outputs = {graph.desc(feed)};
    node.device = graph.node(feed.node).device;
    node.id = size();
    feeds_.push_back({node.id, 0});
    AddNode(std::move(node), info(feed.node));
  }
  const auto map_output = [&](Output o) {
    if (const auto found = fed.find(o); found != fed.end()) return feeds_[found->second];
    return Output{here[static_cast<size_t>(o.node)], o.index};
  };
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!needed[static_cast<size_t>(id)] || IsFullyFed(graph, id, fed)) continue;
    Node node = graph.node(id);
    if (node.kind == OpKind::kPlaceholder)
      throw InvalidArgument(
          fmt::format("placeholder {} ({}) is needed but not fed", node.name, node.outputs[0].ToString()));
    node.id = size();
    for (Output& input : node.inputs) input = map_output(input);
    std::erase_if(node.control_inputs, [&](NodeId c) { return here[static_cast<size_t>(c)] == kNoNode; });
    for (NodeId& control : node.control_inputs) control = here[static_cast<size_t>(control)];
    here[static_cast<size_t>(id)] = node.id;
    AddNode(std::move(node), info(id));
  }
  for (Output fetch : fetches) {
    fetches_of_[map_output(fetch)].push_back(fetches_.size());
    fetches_.push_back(map_output(fetch));
  }
  for (NodeId target : targets)
    if (here[static_cast<size_t>(target)] != kNoNode) AddTarget(here[static_cast<size_t>(target)]);
}

}  // namespace muster
